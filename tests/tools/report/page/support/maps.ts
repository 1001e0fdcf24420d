// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Moments of a map as text.

import { HOLE, Spans, UNMAPPED } from "#page/map/spans.ts";
import type { Card } from "#page/model.ts";
import { card, pieces, type PieceText, ranges } from "./runs.ts";

/** Returns segments as "address..end kind". */
export function segmentsText({ segments }: Spans): string[] {
  return segments.map(({ start, end, kind }) => `${start}..${end} ${kind}`);
}

/**
 * Returns the segments at a moment, a letter for each `unit` of bytes: a piece has its index in
 * letters from "a", a hole ".", and unmapped memory "_"; "|" separates spans with equal letters.
 */
export function spansText(card: Card, event: number, unit = 10): string[] {
  const spans = new Spans(card);
  spans.goTo(event);
  return spans.segments.map((_, i) => {
    const words: string[] = [];
    for (let k = spans.firstOf[i]!; k < spans.firstOf[i + 1]!; ++k) {
      const word = letter(spans.what[k]!).repeat((spans.end[k]! - spans.start[k]!) / unit);
      words.push(words.at(-1)?.at(-1) === word[0] ? `|${word}` : word);
    }
    return words.join("");
  });
}

function letter(what: number): string {
  if (what === HOLE) return ".";
  return what === UNMAPPED ? "_" : String.fromCharCode("a".charCodeAt(0) + what);
}

/** Makes one mapped segment, from address 0. */
export function oneSegment(bytes: number, ...texts: readonly PieceText[]): Card {
  return card({ mapped: ranges([0, bytes]), pieces: pieces(...texts) });
}

export function at(card: Card, event: number): Spans {
  const spans = new Spans(card);
  spans.goTo(event);
  return spans;
}
