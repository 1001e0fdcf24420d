// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns of numbers in the page's format (tools/report/page/json_columns.h).

export type Numbers = readonly number[];

/** Returns values from differences, each from the one before it, the first from 0. */
export function summed(deltas: Numbers, scale = 1): Float64Array {
  const values = new Float64Array(deltas.length);
  let sum = 0;
  for (let i = 0; i < deltas.length; ++i) values[i] = (sum += deltas[i]!) * scale;
  return values;
}

/** Returns ends from their distances to the begins; a distance of 0 means "never". */
export function ends(begins: Float64Array, distances: Numbers): Float64Array {
  return begins.map((begin, i) => (distances[i] ? begin + distances[i]! : Infinity));
}
