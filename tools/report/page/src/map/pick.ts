// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the block at a place of the map, and the place of a range of addresses.

import { countUntil } from "../sorted.ts";
import type { Layout } from "./rows.ts";
import type { Spans } from "./spans.ts";

/** Returns the column in the line of all rows; -1: no row. `x` is in columns, `y` in CSS pixels. */
export function columnAt(layout: Layout, x: number, y: number): number {
  const { columns, rows, rowHeight, rowGap } = layout;
  const row = Math.floor(y / (rowHeight + rowGap));
  const isBetween = y - row * (rowHeight + rowGap) >= rowHeight;
  if (row < 0 || row >= rows || isBetween || x < 0 || x >= columns) return -1;
  return row * columns + Math.floor(x);
}

/** Returns the segment of a column; -1: none. */
export function segmentAt(layout: Layout, column: number): number {
  const { place, length } = layout;
  let i = countUntil((k) => place[k]!, place.length, column) - 1;
  while (i > 0 && length[i] === 0) --i; // segments that are not drawn have the place of the next
  return i >= 0 && column < place[i]! + length[i]! ? i : -1;
}

/** Returns the block with most of a column's bytes, or else another span; -1: no segment. */
export function spanAt(spans: Spans, layout: Layout, column: number): number {
  const i = segmentAt(layout, column);
  if (i < 0) return -1;
  const from = spans.segments[i]!.start + (column - layout.place[i]!) * layout.scale;
  const until = from + layout.scale;
  let [best, most, isPiece] = [-1, 0, false];
  const first = Math.max(spanOf(spans, from), spans.firstOf[i]!);
  for (let k = first; k < spans.firstOf[i + 1]! && spans.start[k]! < until; ++k) {
    const bytes = Math.min(spans.end[k]!, until) - Math.max(spans.start[k]!, from);
    const isOne = spans.what[k]! >= 0;
    if (isOne === isPiece ? bytes > most : isOne) [best, most, isPiece] = [k, bytes, isOne];
  }
  return best;
}

/** Returns the last span that begins at or before an address; -1: none. */
export function spanOf(spans: Spans, address: number): number {
  return countUntil((k) => spans.start[k]!, spans.count, address) - 1;
}

/** Returns the span of a piece that begins at `address`; -1: it does not live. */
export function spanOfPiece(spans: Spans, piece: number, address: number): number {
  const k = spanOf(spans, address);
  if (spans.what[k] === piece) return k;
  // In a broken trace the span before may overlap it.
  return k + 1 < spans.count && spans.what[k + 1] === piece ? k + 1 : -1;
}

/** A part of a row, from column `from` until `until`. */
export interface Strip {
  readonly row: number;
  readonly from: number;
  readonly until: number;
}

/** Returns the rows that addresses of a segment take; at least one column. */
export function stripsOf(layout: Layout, from: number, until: number): Strip[] {
  const { columns } = layout;
  const strips: Strip[] = [];
  for (let at = from; at < until;) {
    const row = Math.floor(at / columns);
    const end = Math.min(until, (row + 1) * columns);
    strips.push({ row, from: at - row * columns, until: end - row * columns });
    at = end;
  }
  return strips;
}

/** Returns a span's columns in the line. */
export function columnsOf(spans: Spans, layout: Layout, span: number): [number, number] {
  const i = segmentOf(spans, span);
  const { start } = spans.segments[i]!;
  const from = layout.place[i]! + (spans.start[span]! - start) / layout.scale;
  const until = layout.place[i]! + (spans.end[span]! - start) / layout.scale;
  return [from, Math.max(until, Math.floor(from) + 1)];
}

/** Returns the segment of a span. */
export function segmentOf(spans: Spans, span: number): number {
  return countUntil((i) => spans.firstOf[i]!, spans.segments.length, span) - 1;
}
