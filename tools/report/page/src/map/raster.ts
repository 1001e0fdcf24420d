// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Paints a moment's spans. A column has one colour over the row's height, so it is decided once
// for a line of all rows, and copied downwards.

import type { Inks } from "./inks.ts";
import type { Layout } from "./rows.ts";
import type { Spans } from "./spans.ts";

/** Index of a span's colour. */
export type ColourOf = (span: number) => number;

/** Spans of fewer columns would be all edge. */
const EDGED = 4;

/** Which colour has most of a column's bytes. */
class Votes {
  private readonly weight: Float64Array;
  private readonly voted: number[] = [];
  private winner = -1;

  constructor(colours: number) {
    this.weight = new Float64Array(colours);
  }

  add(colour: number, weight: number): void {
    if (this.weight[colour] === 0) this.voted.push(colour);
    this.weight[colour]! += weight;
    if (this.winner < 0 || this.weight[colour]! > this.weight[this.winner]!) this.winner = colour;
  }

  /** -1: nobody voted. */
  take(): number {
    const { winner } = this;
    for (const colour of this.voted) this.weight[colour] = 0;
    this.voted.length = 0;
    this.winner = -1;
    return winner;
  }
}

export class Raster {
  readonly line: Uint32Array;
  private readonly layout: Layout;
  private readonly inks: Inks;
  private readonly votes: Votes;
  private readonly edges: Uint32Array; // columns, with the ink of each
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

  /** Where no segment is the line stays transparent. */
  paintLine(spans: Spans, colourOf: ColourOf): void {
    this.line.fill(0);
    this.edgeCount = 0;
    for (let i = 0; i < spans.segments.length; ++i)
      if (this.layout.length[i]! > 0) this.paintSegment(spans, i, colourOf);
    for (let e = 0; e < this.edgeCount; ++e) this.line[this.edges[e]!] = this.edgeInks[e]!;
  }

  /** `pixels`: of `columns` times heightOf(layout); what lies between the rows is left as it is. */
  copyTo(pixels: Uint32Array): void {
    const { columns, rows, rowHeight, rowGap } = this.layout;
    for (let row = 0; row < rows; ++row) {
      const top = row * (rowHeight + rowGap) * columns;
      pixels.set(this.line.subarray(row * columns, (row + 1) * columns), top);
      for (let y = 1; y < rowHeight; ++y) pixels.copyWithin(top + y * columns, top, top + columns);
    }
  }

  private paintSegment(spans: Spans, i: number, colourOf: ColourOf): void {
    const { start, end } = spans.segments[i]!;
    const place = this.layout.place[i]!;
    const scale = this.layout.scale;
    let column = 0; // that is voted about
    for (let k = spans.firstOf[i]!; k < spans.firstOf[i + 1]!; ++k) {
      const from = (spans.start[k]! - start) / scale;
      const until = (spans.end[k]! - start) / scale;
      const first = Math.floor(from);
      const last = Math.floor(until);
      const colour = colourOf(k);
      if (first > column) {
        this.decide(place + column);
        column = first;
      }
      this.votes.add(colour, Math.min(until, first + 1) - from);
      if (last === first) continue;
      this.decide(place + column);
      this.line.fill(this.inks.plain[colour]!, place + first + 1, place + last);
      if (until - from >= EDGED && spans.what[k]! >= 0)
        this.markEdge(place + Math.ceil(from), colour);
      column = last;
      if (until > last) this.votes.add(colour, until - last);
    }
    if (column < (end - start) / scale) this.decide(place + column);
  }

  private decide(at: number): void {
    const colour = this.votes.take();
    if (colour >= 0) this.line[at] = this.inks.plain[colour]!;
  }

  private markEdge(at: number, colour: number): void {
    this.edges[this.edgeCount] = at;
    this.edgeInks[this.edgeCount++] = this.inks.edge[colour]!;
  }
}
