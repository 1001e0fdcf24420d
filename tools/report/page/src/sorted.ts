// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Finding a place in what is sorted.

/** How many of `count` values, which `at` tells in rising order, are at most `value`. */
export function countUntil(at: (i: number) => number, count: number, value: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (at(middle) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
