// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Moves from block to block by the keys of the map.

import { columnsOf, segmentOf, spanAt } from "./pick.ts";
import type { Layout } from "./rows.ts";
import type { Spans } from "./spans.ts";

/** Returns the next span from `at` on that is a piece, in steps of `step`; -1: none. */
function pieceFrom(spans: Spans, at: number, step: 1 | -1): number {
  for (let k = at; k >= 0 && k < spans.count; k += step) if (spans.what[k]! >= 0) return k;
  return -1;
}

/** Returns the piece a row further: at the same column, or the next one in that direction. */
function inRow(spans: Spans, layout: Layout, span: number, step: 1 | -1): number {
  const [from, until] = columnsOf(spans, layout, span);
  const column = Math.floor((from + until - 1) / 2);
  // The step leaves a block of several rows and does not enter it again.
  const rows = Math.max(1, Math.ceil((until - from) / layout.columns / 2));
  const end = layout.rows * layout.columns;
  for (let at = column + step * rows * layout.columns; at >= 0 && at < end; at += step) {
    const k = spanAt(spans, layout, at);
    if (k >= 0 && k !== span && spans.what[k]! >= 0) return k;
  }
  return -1;
}

/** Returns the first piece of the next segment that has one. */
function inSegment(spans: Spans, span: number, step: 1 | -1): number {
  const i = segmentOf(spans, span);
  if (step > 0) return pieceFrom(spans, spans.firstOf[i + 1]!, 1);
  const before = pieceFrom(spans, spans.firstOf[i]! - 1, -1);
  return before < 0 ? -1 : pieceFrom(spans, spans.firstOf[segmentOf(spans, before)]!, 1);
}

/**
 * Returns the span that a key leads to from `span`, or from nowhere (-1): `span` itself if there is
 * none. Undefined if the key leads nowhere at all.
 */
export function moved(spans: Spans, layout: Layout, span: number, key: string): number | undefined {
  const lead = WAYS.get(key);
  if (!lead) return undefined;
  const to = span < 0 ? pieceFrom(spans, 0, 1) : lead(spans, layout, span);
  return to < 0 ? span : to;
}

type Way = (spans: Spans, layout: Layout, span: number) => number;

const WAYS: ReadonlyMap<string, Way> = new Map<string, Way>([
  ["ArrowLeft", (spans, _, span) => pieceFrom(spans, span - 1, -1)],
  ["ArrowRight", (spans, _, span) => pieceFrom(spans, span + 1, 1)],
  ["ArrowUp", (spans, layout, span) => inRow(spans, layout, span, -1)],
  ["ArrowDown", (spans, layout, span) => inRow(spans, layout, span, 1)],
  ["PageUp", (spans, _, span) => inSegment(spans, span, -1)],
  ["PageDown", (spans, _, span) => inSegment(spans, span, 1)],
  ["Home", (spans) => pieceFrom(spans, 0, 1)],
  ["End", (spans) => pieceFrom(spans, spans.count - 1, -1)],
]);
