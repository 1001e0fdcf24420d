// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of the map.

import { counted, listed, sentences, translated } from "../messages.ts";
import type { Card, Failure, Run } from "../model.ts";
import { isExact } from "../moment.ts";
import { positionWords } from "../position.ts";
import { formatBytes, formatCount } from "../text.ts";
import { hex, shortWords } from "./block_facts.ts";
import type { Tally } from "./colouring.ts";
import { fits, type Holes } from "./holes.ts";
import { areGuessed, GUESSED_GAP, type Segment } from "./segments.ts";
import { HOLE, type Spans } from "./spans.ts";

export interface Scene {
  readonly run: Run;
  readonly card: Card;
  readonly spans: Spans;
  readonly tally: Tally;
  readonly missing: number; // bytes in use that are not pieces, about
  readonly holes: Holes;
}

/** Returns "event 12,345 · 3.20 s · step 2, backward". */
export function placeWords({ run, spans: { event } }: Scene): string {
  return positionWords(run, event);
}

/** Returns "After event 12,345 · 3.20 s: 23.48 GiB in use, 0.50 GiB in 312 holes, the largest 96.0 MiB". */
export function summaryOf(scene: Scene): string {
  const { rounding, waiting } = scene.tally;
  const parts = [useWords(scene)];
  if (rounding > 0) parts.push(translated("$0 lost to rounding", formatBytes(rounding)));
  if (waiting > 0) parts.push(translated("$0 waiting for a stream", formatBytes(waiting)));
  parts.push(holeWords(scene));
  return translated("After $0: $1", placeWords(scene), listed(...parts));
}

function useWords({ card, spans: { event }, tally, missing }: Scene): string {
  const inUse = formatBytes(tally.inUse);
  if (isExact(card, event)) return translated("$0 in use", inUse);
  const least = formatBytes(card.leastBytes);
  return missing > 0
    ? translated(
        "$0 in use by blocks of $1 or more, about $2 by smaller ones",
        inUse,
        least,
        formatBytes(missing),
      )
    : translated("$0 in use by blocks of $1 or more", inUse, least);
}

function holeWords({ card, spans: { event }, holes }: Scene): string {
  if (holes.count === 0) return translated("no holes");
  const bytes = formatBytes(holes.bytes);
  if (!isExact(card, event))
    return translated("$0 in holes or blocks too small to be listed", bytes);
  return counted(
    holes.count,
    "$0 in 1 hole",
    "$0 in $1 holes, the largest $2",
    bytes,
    formatCount(holes.count),
    formatBytes(holes.largest),
  );
}

/** Describes what the map cannot show; "" if it shows all. */
export function limitWords(card: Card, event: number, segments: readonly Segment[]): string {
  const limits: string[] = [];
  if (!isExact(card, event))
    limits.push(
      translated(
        "Blocks smaller than $0 are listed only near the report's moment, the peak and the last " +
          "failures. Here, the memory of the others is shown as holes.",
        formatBytes(card.leastBytes),
      ),
    );
  if (areGuessed(segments))
    limits.push(
      translated(
        "The trace does not say which segments some blocks are in. Between such blocks, a gap of " +
          "more than $0 starts another segment; a smaller gap is shown as a hole.",
        formatBytes(GUESSED_GAP),
      ),
    );
  return sentences(...limits);
}

/** Describes the span that is pointed at or focused. */
export function spanWords({ run, card, spans }: Scene, span: number): string {
  const what = spans.what[span]!;
  if (what >= 0) return shortWords(run, card, what);
  const place = hex(spans.start[span]!);
  const bytes = formatBytes(spans.end[span]! - spans.start[span]!);
  if (what !== HOLE) return translated("not mapped at this moment, $0 at $1", bytes, place);
  return isExact(card, spans.event)
    ? translated("hole, $0 at $1", bytes, place)
    : translated("hole, or blocks too small to be listed, $0 at $1", bytes, place);
}

/** Compares a failed request with the holes. */
export function requestWords(failure: Failure, holes: Holes): string {
  const most = translated("At most $0 was available.", formatBytes(failure.obtainable));
  return sentences(holeOfRequest(failure, holes), most);
}

function holeOfRequest(failure: Failure, holes: Holes): string {
  if (holes.count === 0) return translated("There is no hole.");
  if (fits(failure, holes))
    return translated(
      "A hole is large enough, but the allocator could not use it: " +
        "it may belong to another stream or pool, or be kept for smaller blocks.",
    );
  const lacking = formatBytes(failure.allocated - holes.largest);
  return translated("No hole is large enough: the largest is $0 too small.", lacking);
}
