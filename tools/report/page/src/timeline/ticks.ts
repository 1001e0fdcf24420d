// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the scale of bytes has its lines.

/** Round multiples of a power of two, four or so up to `top`, from 0. */
export function ticksUntil(top: number): number[] {
  let step = 2 ** Math.floor(Math.log2(Math.max(top, 1) / 3));
  if (top / step > 6) step *= 2;
  return Array.from({ length: Math.ceil(top / step) }, (_, i) => i * step);
}
