// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes of pieces from event to event.

import type { Keys } from "../keys.ts";
import type { Card, Pieces } from "../model.ts";

/** Goes forward through the events of a range at which a piece comes into use or leaves it. */
export class Sweep {
  readonly held: Float64Array; // bytes in use after the current event, by index of Keys.names
  total = 0;
  private readonly pieces: Pieces;
  private readonly keys: Keys;
  private readonly atBegin: Float64Array;
  // An event that frees comes as -1 - piece, one that allocates as the piece.
  private readonly events: Float64Array;
  private readonly changes: Int32Array;
  private at = 0;

  /** Starts at `from`. */
  constructor(card: Card, keys: Keys, from: number, to: number) {
    this.pieces = card.pieces;
    this.keys = keys;
    this.held = new Float64Array(keys.names.length);
    const found = this.find(from, to);
    this.events = Float64Array.from(found, ([event]) => event);
    this.changes = Int32Array.from(found, ([, change]) => change);
    this.atBegin = this.held.slice();
    this.rewind();
  }

  /** Goes back to the start. */
  rewind(): void {
    this.held.set(this.atBegin);
    this.total = this.held.reduce((all, bytes) => all + bytes, 0);
    this.at = 0;
  }

  /** Returns the next event at which something changes; Infinity if there is none. */
  get next(): number {
    return this.at < this.events.length ? this.events[this.at]! : Infinity;
  }

  /** Goes to just after `event`, which must not be before the current event. */
  advance(event: number): void {
    while (this.next <= event) {
      const change = this.changes[this.at++]!;
      this.count(change < 0 ? -1 - change : change, change < 0 ? -1 : 1);
    }
  }

  private count(piece: number, sign: 1 | -1): void {
    const bytes = sign * this.pieces.bytes[piece]!;
    this.held[this.keys.ofOrigin[this.pieces.origin[piece]!]!]! += bytes;
    this.total += bytes;
  }

  /** Returns the changes after `from`; counts the pieces in use at `from`. */
  private find(from: number, to: number): [event: number, change: number][] {
    const { born, letGo, count } = this.pieces;
    const found: [number, number][] = [];
    for (let piece = 0; piece < count && born[piece]! <= to; ++piece) {
      if (letGo[piece]! <= from) continue;
      if (born[piece]! <= from) this.count(piece, 1);
      else found.push([born[piece]!, piece]);
      if (letGo[piece]! <= to) found.push([letGo[piece]!, -1 - piece]);
    }
    return found.sort(([a], [b]) => a - b);
  }
}
