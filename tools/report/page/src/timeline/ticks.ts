// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The lines of the scale of bytes.

/** Returns about four round multiples of a power of two up to `top`, from 0. */
export function ticksUntil(top: number): number[] {
  let step = 2 ** Math.floor(Math.log2(Math.max(top, 1) / 3));
  if (top / step > 6) step *= 2;
  return Array.from({ length: Math.ceil(top / step) }, (_, i) => i * step);
}
