// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranges of addresses that live for some events, sorted by address once, so that each moment needs
// one pass over them and no sorting.

import type { Pieces, Ranges } from "../model.ts";
import { orderOf } from "../sorted.ts";

/** Columns of equal length, by address; `id` is each range's index in its source. */
export interface Lifetimes {
  readonly count: number;
  readonly id: Uint32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly from: Float64Array; // event
  readonly until: Float64Array; // event
}

function byAddress(
  address: Float64Array,
  bytesOf: (i: number) => number,
  from: Float64Array,
  until: Float64Array,
): Lifetimes {
  const id = orderOf(address);
  const column = (of: (i: number) => number): Float64Array => {
    const values = new Float64Array(id.length);
    for (let k = 0; k < id.length; ++k) values[k] = of(id[k]!);
    return values;
  };
  return {
    count: id.length,
    id,
    start: column((i) => address[i]!),
    end: column((i) => address[i]! + bytesOf(i)),
    from: column((i) => from[i]!),
    until: column((i) => until[i]!),
  };
}

/** Includes the bytes of blocks beyond the request, until others can have the memory. */
export function lifetimesOfPieces(pieces: Pieces): Lifetimes {
  const { address, bytes, slack, born, gone } = pieces;
  return byAddress(address, (i) => bytes[i]! + slack[i]!, born, gone);
}

export function lifetimesOfRanges(ranges: Ranges): Lifetimes {
  return byAddress(ranges.address, (i) => ranges.bytes[i]!, ranges.from, ranges.until);
}

/** Puts the places in `all` of the ranges that live just after `event` into `into`. Returns their number. */
export function livingAt(all: Lifetimes, event: number, into: Uint32Array): number {
  const { count, from, until } = all;
  let living = 0;
  for (let k = 0; k < count; ++k) if (from[k]! <= event && event < until[k]!) into[living++] = k;
  return living;
}
