// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Paints a moment's spans. A column has one colour over the row's height, so it is computed once
// for a line of all rows, and copied downwards.

import type { Inks } from "./inks.ts";
import type { Layout } from "./rows.ts";
import type { Spans } from "./spans.ts";

/** Spans with fewer columns would be all edge. */
const EDGED = 4;

/** Finds the colour with most of a column's bytes. Its methods run for each span of each frame. */
class Votes {
  private readonly weight: Float64Array;
  private readonly voted: Uint16Array;
  private count = 0;
  private most = 0;
  private winner = -1;

  constructor(colours: number) {
    this.weight = new Float64Array(colours);
    this.voted = new Uint16Array(colours);
  }

  add(colour: number, weight: number): void {
    const before = this.weight[colour]!;
    if (before === 0) this.voted[this.count++] = colour;
    const after = (this.weight[colour] = before + weight);
    if (after <= this.most) return;
    this.most = after;
    this.winner = colour;
  }

  /** Returns the winner; -1 if nobody voted. */
  take(): number {
    const { winner } = this;
    for (let i = 0; i < this.count; ++i) this.weight[this.voted[i]!] = 0;
    this.count = this.most = 0;
    this.winner = -1;
    return winner;
  }
}

export class Raster {
  readonly line: Uint32Array;
  private readonly layout: Layout;
  private readonly inks: Inks;
  private readonly votes: Votes;
  private readonly edges: Uint32Array; // columns, each with its ink
  private readonly edgeInks: Uint32Array;
  private edgeCount = 0;

  constructor(layout: Layout, inks: Inks) {
    this.layout = layout;
    this.inks = inks;
    this.line = new Uint32Array(layout.rows * layout.columns);
    this.votes = new Votes(inks.plain.length);
    this.edges = new Uint32Array(Math.ceil(this.line.length / EDGED) + 1);
    this.edgeInks = new Uint32Array(this.edges.length);
  }

  /** `colours` has one for each span. Places without a segment stay transparent. */
  paintLine(spans: Spans, colours: Uint16Array): void {
    this.line.fill(0);
    this.edgeCount = 0;
    for (let i = 0; i < spans.segments.length; ++i)
      if (this.layout.length[i]! > 0) this.paintSegment(spans, i, colours);
    for (let e = 0; e < this.edgeCount; ++e) this.line[this.edges[e]!] = this.edgeInks[e]!;
  }

  /** `pixels` has `columns` times heightOf(layout) pixels; those between the rows stay as they are. */
  copyTo(pixels: Uint32Array): void {
    const { columns, rows, rowHeight, rowGap } = this.layout;
    for (let row = 0; row < rows; ++row) {
      const top = row * (rowHeight + rowGap) * columns;
      pixels.set(this.line.subarray(row * columns, (row + 1) * columns), top);
      for (let y = 1; y < rowHeight; ++y) pixels.copyWithin(top + y * columns, top, top + columns);
    }
  }

  private paintSegment(spans: Spans, i: number, colours: Uint16Array): void {
    const { start } = spans.segments[i]!;
    const { votes } = this;
    const { scale } = this.layout;
    const place = this.layout.place[i]!;
    let from = 0; // in columns, the end of the last span
    let first = 0; // its column
    for (let k = spans.firstOf[i]!; k < spans.firstOf[i + 1]!; ++k) {
      const until = (spans.end[k]! - start) / scale;
      const last = until | 0;
      const colour = colours[k]!;
      if (last === first) votes.add(colour, until - from);
      else {
        votes.add(colour, first + 1 - from);
        this.decide(place + first);
        if (last > first + 1) this.fill(place, from, last, colour, spans.what[k]! >= 0);
        if (until > last) votes.add(colour, until - last);
      }
      from = until;
      first = last;
    }
    this.decide(place + first);
  }

  /** Paints the columns that belong to one span only. */
  private fill(place: number, from: number, last: number, colour: number, isPiece: boolean): void {
    this.line.fill(this.inks.plain[colour]!, place + Math.floor(from) + 1, place + last);
    if (!isPiece || last - from < EDGED) return;
    this.edges[this.edgeCount] = place + Math.ceil(from);
    this.edgeInks[this.edgeCount++] = this.inks.edge[colour]!;
  }

  private decide(at: number): void {
    const colour = this.votes.take();
    if (colour >= 0) this.line[at] = this.inks.plain[colour]!;
  }
}
