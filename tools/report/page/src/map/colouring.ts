// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The colour of each span of a moment, and the bytes of each colour.

import type { Keys } from "../keys.ts";
import { translated } from "../messages.ts";
import type { Pieces } from "../model.ts";
import type { LedgerEntry } from "../vocabulary.ts";
import { HOLE, type Spans } from "./spans.ts";

/** The colours after those of the keys, for memory that is not in use. */
export const NOT_IN_USE = [
  { name: translated("waiting for a stream"), colour: "stream_wait" },
  { name: translated("holes"), colour: "holes" },
  { name: translated("not mapped at this moment"), colour: "unmapped" },
] as const satisfies readonly { name: string; colour: LedgerEntry | "unmapped" }[];
const [WAITING, HOLES, NOT_MAPPED] = [0, 1, 2];

export interface Tally {
  readonly inUse: number; // bytes requested
  readonly rounding: number; // ... and the bytes of their blocks beyond that
  readonly waiting: number;
  readonly ofColour: Float64Array; // by colour; those of keys without rounding
}

export class Colouring {
  readonly ofSpan: Uint16Array;
  private readonly spans: Spans;
  private readonly keys: number;
  // Columns of pieces by address, in the order of the spans: another order takes three times as
  // long.
  private readonly colour: Uint16Array;
  private readonly letGo: Float64Array;
  private readonly slack: Float64Array;

  /** `pieces` are those of the spans. */
  constructor(spans: Spans, pieces: Pieces, keys: Keys) {
    this.spans = spans;
    this.keys = keys.names.length;
    this.ofSpan = new Uint16Array(spans.start.length);
    const { id } = spans.pieces;
    this.colour = new Uint16Array(id.length);
    this.letGo = new Float64Array(id.length);
    this.slack = new Float64Array(id.length);
    for (let k = 0; k < id.length; ++k) {
      const piece = id[k]!;
      this.colour[k] = keys.ofOrigin[pieces.origin[piece]!]!;
      this.letGo[k] = pieces.letGo[piece]!;
      this.slack[k] = pieces.slack[piece]!;
    }
  }

  /** Colours the spans at their moment. */
  update(): Tally {
    const { spans, keys, ofSpan } = this;
    const ofColour = new Float64Array(keys + NOT_IN_USE.length);
    let rounding = 0;
    for (let k = 0; k < spans.count; ++k) {
      const colour = (ofSpan[k] = this.colourOf(k));
      const slack = colour < keys ? this.slack[spans.place[k]!]! : 0;
      ofColour[colour]! += spans.end[k]! - spans.start[k]! - slack;
      rounding += slack;
    }
    const inUse = ofColour.subarray(0, keys).reduce((sum, bytes) => sum + bytes, 0);
    return { inUse, rounding, waiting: ofColour[keys + WAITING]!, ofColour };
  }

  private colourOf(span: number): number {
    const what = this.spans.what[span]!;
    if (what < 0) return this.keys + (what === HOLE ? HOLES : NOT_MAPPED);
    const place = this.spans.place[span]!;
    const isWaiting = this.letGo[place]! <= this.spans.event;
    return isWaiting ? this.keys + WAITING : this.colour[place]!;
  }
}
