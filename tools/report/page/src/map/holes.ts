// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The holes at a moment, and if a failed request would have fitted into one.

import type { Failure } from "../model.ts";
import { HOLE, type Spans } from "./spans.ts";

export interface Holes {
  readonly count: number;
  readonly bytes: number;
  readonly largest: number; // bytes; 0 without holes
  readonly largestAt: number; // address
}

export function holesOf(spans: Spans): Holes {
  let [count, bytes, largest, largestAt] = [0, 0, 0, 0];
  for (let k = 0; k < spans.count; ++k) {
    if (spans.what[k] !== HOLE) continue;
    const size = spans.end[k]! - spans.start[k]!;
    count += 1;
    bytes += size;
    if (size > largest) [largest, largestAt] = [size, spans.start[k]!];
  }
  return { count, bytes, largest, largestAt };
}

/** Compares sizes only: a hole of another stream or pool does not serve a request either. */
export function fits(failure: Failure, holes: Holes): boolean {
  return failure.allocated <= holes.largest;
}
