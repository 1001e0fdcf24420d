// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds places in sorted values.

/** Returns how many of `count` values are at most `value`; `at` returns them in rising order. */
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

/**
 * Returns the indices of values in rising order; equal values keep theirs. A comparing sort of a
 * million takes most of a second, the browser's own sort of plain numbers a tenth of that.
 */
export function orderOf(values: Float64Array): Uint32Array {
  const distinct = values.slice().sort();
  let kinds = 0;
  for (let i = 0; i < distinct.length; ++i)
    if (i === 0 || distinct[i] !== distinct[i - 1]) distinct[kinds++] = distinct[i]!;
  const at = (i: number): number => distinct[i]!;
  const ranks = new Uint32Array(values.length);
  const next = new Uint32Array(kinds + 1); // the first free place of each rank
  for (let i = 0; i < values.length; ++i)
    ++next[(ranks[i] = countUntil(at, kinds, values[i]!) - 1) + 1]!;
  for (let kind = 0; kind < kinds; ++kind) next[kind + 1]! += next[kind]!;
  const order = new Uint32Array(values.length);
  for (let i = 0; i < values.length; ++i) order[next[ranks[i]!]!++] = i;
  return order;
}
