// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What a moment's bytes are, by colour and together.

import { isInUse } from "../moment.ts";
import type { Pieces } from "../model.ts";
import { HOLE, type Spans } from "./spans.ts";

/** What is no use: colours after those of the keys. */
export const NOT_IN_USE = [
  { name: "waiting for a stream", colour: "stream_wait" },
  { name: "holes", colour: "holes" },
  { name: "not mapped at this moment", colour: "unmapped" },
] as const;
const [WAITING, HOLES, NOT_MAPPED] = [0, 1, 2];

/** The colour of each span, for `keys` colours of pieces in use. */
export function spanColour(
  spans: Spans,
  pieces: Pieces,
  ofOrigin: Uint16Array,
  keys: number,
): (span: number) => number {
  const { letGo, origin } = pieces;
  return (span) => {
    const piece = spans.what[span]!;
    if (piece < 0) return keys + (piece === HOLE ? HOLES : NOT_MAPPED);
    return letGo[piece]! <= spans.event ? keys + WAITING : ofOrigin[origin[piece]!]!;
  };
}

export interface Tally {
  readonly inUse: number; // bytes requested
  readonly rounding: number; // ... and what their blocks have beyond
  readonly waiting: number;
  readonly ofColour: Float64Array;
}

/** `keys`: how many of the colours are of pieces in use. */
export function tallyOf(
  spans: Spans,
  pieces: Pieces,
  colourOf: (span: number) => number,
  keys: number,
): Tally {
  const ofColour = new Float64Array(keys + NOT_IN_USE.length);
  let rounding = 0;
  for (let k = 0; k < spans.count; ++k) {
    const piece = spans.what[k]!;
    const slack = piece >= 0 && isInUse(pieces, piece, spans.event) ? pieces.slack[piece]! : 0;
    rounding += slack;
    ofColour[colourOf(k)]! += spans.end[k]! - spans.start[k]! - slack;
  }
  const inUse = ofColour.subarray(0, keys).reduce((sum, bytes) => sum + bytes, 0);
  return { inUse, rounding, waiting: ofColour[keys + WAITING]!, ofColour };
}
