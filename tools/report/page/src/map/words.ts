// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of the map.

import type { Card, Failure, Run } from "../model.ts";
import { isExact } from "../moment.ts";
import { positionWords } from "../position.ts";
import { formatBytes, formatCount } from "../text.ts";
import { hex, shortWords } from "./block_facts.ts";
import type { Tally } from "./colouring.ts";
import { fits, type Holes } from "./holes.ts";
import { areGuessed, type Segment } from "./segments.ts";
import { HOLE, type Spans } from "./spans.ts";

export interface Scene {
  readonly run: Run;
  readonly card: Card;
  readonly spans: Spans;
  readonly tally: Tally;
  readonly missing: number; // bytes in use that are not pieces, about
  readonly holes: Holes;
}

const counted = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** Returns "event 12,345 · 3.20 s · step 2, backward". */
export function placeWords({ run, spans: { event } }: Scene): string {
  return positionWords(run, event);
}

/** Returns "after event 12,345 · 3.20 s: 23.48 GiB in use, 0.50 GiB in 312 holes, the largest 96.0 MiB". */
export function summaryOf(scene: Scene): string {
  const { rounding, waiting } = scene.tally;
  const parts = [useWords(scene)];
  if (rounding > 0) parts.push(`${formatBytes(rounding)} rounding`);
  if (waiting > 0) parts.push(`${formatBytes(waiting)} waiting`);
  return `after ${placeWords(scene)}: ${[...parts, holeWords(scene)].join(", ")}`;
}

function useWords({ card, spans: { event }, tally, missing }: Scene): string {
  const inUse = `${formatBytes(tally.inUse)} in use`;
  if (isExact(card, event)) return inUse;
  const listed = `${inUse} by blocks of ${formatBytes(card.leastBytes)} or more`;
  return missing > 0 ? `${listed}, about ${formatBytes(missing)} by smaller ones` : listed;
}

function holeWords({ card, spans: { event }, holes }: Scene): string {
  if (holes.count === 0) return "no holes";
  const bytes = formatBytes(holes.bytes);
  if (!isExact(card, event)) return `${bytes} in holes or blocks too small to be listed`;
  const many = counted(holes.count, "hole", "holes");
  const largest = holes.count === 1 ? "" : `, the largest ${formatBytes(holes.largest)}`;
  return `${bytes} in ${many}${largest}`;
}

/** Says what the map cannot show; "" if it shows all. */
export function limitWords(card: Card, event: number, segments: readonly Segment[]): string {
  const limits: string[] = [];
  if (!isExact(card, event))
    limits.push(
      `Blocks of less than ${formatBytes(card.leastBytes)} that were not near a failure or the peak ` +
        "are not listed; what they cover shows as holes.",
    );
  if (areGuessed(segments))
    limits.push(
      "The trace does not tell which memory these blocks lie in: where more than 32 MiB are " +
        "between two blocks another segment begins, and what else is between them shows as holes.",
    );
  return limits.join(" ");
}

/** Describes the span that is pointed at or focused. */
export function spanWords({ run, card, spans }: Scene, span: number): string {
  const what = spans.what[span]!;
  if (what >= 0) return shortWords(run, card, what);
  const bytes = formatBytes(spans.end[span]! - spans.start[span]!);
  const isHole = what === HOLE;
  const hole = isExact(card, spans.event) ? "hole" : "hole, or blocks too small to be listed";
  return `${isHole ? hole : "not mapped at this moment"}, ${bytes} at ${hex(spans.start[span]!)}`;
}

/** Compares a failed request with the holes. */
export function requestWords(failure: Failure, holes: Holes): string {
  const most = `At most ${formatBytes(failure.obtainable)} could have been served.`;
  if (fits(failure, holes))
    return (
      "By its size it fits into a hole, but the allocator could not use that one: it may be of " +
      `another stream or pool, or kept for smaller blocks. ${most}`
    );
  const lacking = formatBytes(failure.allocated - holes.largest);
  return `It fits into no hole: the largest is ${lacking} too small. ${most}`;
}
