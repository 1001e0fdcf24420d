// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A card's segments at one moment, without gaps: pieces, holes between them, and parts without
// memory.

import type { Card } from "../model.ts";
import { type Lifetimes, lifetimesOfPieces, lifetimesOfRanges, livingAt } from "./lifetimes.ts";
import { GUESSED_GAP, type Segment, segmentsOf } from "./segments.ts";

export const HOLE = -1; // memory that no piece has
export const UNMAPPED = -2;

/**
 * The object is the same at every moment, because scrubbing leaves no time for new ones: `goTo`
 * refills its columns. Segment i has the spans from `firstOf[i]` until `firstOf[i + 1]`, by
 * address.
 */
export class Spans {
  readonly segments: readonly Segment[];
  readonly firstOf: Uint32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly what: Int32Array; // index of a piece, HOLE or UNMAPPED
  readonly place: Uint32Array; // the place of a piece in `pieces`
  count = 0;
  event = NaN;

  readonly pieces: Lifetimes;
  private readonly mapped: Lifetimes;
  private readonly livingPieces: Uint32Array;
  private readonly livingMapped: Uint32Array;
  private mappedCount = 0;
  private nextMapped = 0; // of livingMapped: the first that does not end before the walk
  private firstOfThis = 0; // first span of the segment that is walked

  constructor(card: Card) {
    this.pieces = lifetimesOfPieces(card.pieces);
    this.mapped = lifetimesOfRanges(card.mapped);
    this.segments = segmentsOf(card, this.pieces);
    this.livingPieces = new Uint32Array(this.pieces.count);
    this.livingMapped = new Uint32Array(this.mapped.count);
    this.firstOf = new Uint32Array(this.segments.length + 1);
    // Each edge of a piece or a range begins at most one span, and so does each segment.
    const most = 2 * (this.pieces.count + this.mapped.count) + this.segments.length;
    this.start = new Float64Array(most);
    this.end = new Float64Array(most);
    this.what = new Int32Array(most);
    this.place = new Uint32Array(most);
  }

  /** Fills the spans for the moment just after `event`. */
  goTo(event: number): void {
    if (event === this.event) return;
    this.event = event;
    this.count = 0;
    this.nextMapped = 0;
    this.mappedCount = livingAt(this.mapped, event, this.livingMapped);
    const pieceCount = livingAt(this.pieces, event, this.livingPieces);
    let next = 0;
    for (const [i, segment] of this.segments.entries()) {
      this.firstOfThis = this.firstOf[i] = this.count;
      next = this.walk(segment, next, pieceCount);
    }
    this.firstOf[this.segments.length] = this.count;
  }

  /** True if segment `i` has any memory. */
  isThere(i: number): boolean {
    for (let k = this.firstOf[i]!; k < this.firstOf[i + 1]!; ++k)
      if (this.what[k] !== UNMAPPED) return true;
    return false;
  }

  private walk(segment: Segment, first: number, pieceCount: number): number {
    const { id, start, end } = this.pieces;
    let at = segment.start;
    let next = first;
    for (; next < pieceCount; ++next) {
      const k = this.livingPieces[next]!;
      if (start[k]! >= segment.end) break;
      const from = Math.max(start[k]!, at); // broken traces have blocks that overlap
      const until = Math.min(end[k]!, segment.end);
      if (until <= from) continue;
      this.fill(segment, at, from);
      this.place[this.count] = k;
      this.push(from, until, id[k]!);
      at = until;
    }
    this.fill(segment, at, segment.end);
    return next;
  }

  /** Fills a range without pieces. */
  private fill(segment: Segment, from: number, until: number): void {
    if (from >= until) return;
    if (segment.kind === "guessed") this.guess(segment, from, until);
    else this.fillKnown(segment, from, until);
  }

  /** It is not known if there is memory between two such blocks. */
  private guess(segment: Segment, from: number, until: number): void {
    const isBetween = from > segment.start && until < segment.end;
    this.push(from, until, isBetween && until - from <= GUESSED_GAP ? HOLE : UNMAPPED);
  }

  private fillKnown(segment: Segment, from: number, until: number): void {
    const { start, end } = this.mapped;
    let at = from;
    for (; this.nextMapped < this.mappedCount; ++this.nextMapped) {
      const k = this.livingMapped[this.nextMapped]!;
      if (start[k]! >= until) break;
      if (end[k]! <= at) continue;
      this.push(at, start[k]!, UNMAPPED);
      this.pushHole(segment, Math.max(at, start[k]!), Math.min(end[k]!, until));
      at = Math.min(end[k]!, until);
      if (end[k]! > until) break;
    }
    this.push(at, until, UNMAPPED);
  }

  /** Joins holes of neighbouring mappings in a reservation. */
  private pushHole(segment: Segment, from: number, until: number): void {
    const last = this.count - 1;
    const touches = last >= this.firstOfThis && this.what[last] === HOLE && this.end[last] === from;
    if (segment.kind === "reserved" && touches) this.end[last] = until;
    else this.push(from, until, HOLE);
  }

  private push(from: number, until: number, what: number): void {
    if (from >= until) return;
    this.start[this.count] = from;
    this.end[this.count] = until;
    this.what[this.count++] = what;
  }
}
