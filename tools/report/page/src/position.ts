// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in the run an event is: its time, step and phase.

import { bornUntil } from "./moment.ts";
import type { Card, Run } from "./model.ts";
import { countUntil } from "./sorted.ts";
import { formatCount, formatDuration } from "./text.ts";

type Mark = readonly [event: number, ns: number];

/** The marks with known times next before and after an event among things in rising order. */
function neighbours(events: Float64Array, ns: Float64Array, begun: number): Mark[] {
  return [begun - 1, begun]
    .filter((i) => i >= 0 && i < events.length)
    .map((i) => [events[i]!, ns[i]!]);
}

/** When an event was: exactly where the page has its time, else between its neighbours. */
export function timeOf(run: Run, card: Card, event: number): number {
  const { columns, pieces } = card;
  const begun = countUntil((i) => columns.first[i]!, columns.count, event);
  const marks: Mark[] = [
    [run.events, run.lastNs],
    ...neighbours(columns.first, columns.firstNs, begun),
    ...neighbours(pieces.born, pieces.bornNs, bornUntil(pieces, event)),
    [card.peak.event, card.peak.ns],
    ...card.failures.map((failure): Mark => [failure.event, failure.ns]),
  ];
  let before: Mark = [0, 0];
  let after: Mark = [Infinity, run.lastNs];
  for (const mark of marks) {
    if (mark[0] <= event && mark[0] > before[0]) before = mark;
    if (mark[0] >= event && mark[0] < after[0]) after = mark;
  }
  const span = after[0] - before[0];
  const share = span > 0 && Number.isFinite(span) ? (event - before[0]) / span : 0;
  return before[1] + share * (after[1] - before[1]);
}

/** The number of steps that began until `event`. */
export function stepsUntil(run: Run, event: number): number {
  return countUntil((i) => run.steps[i]!.event, run.steps.length, event);
}

/** "step 2, backward"; "" where the trace names neither. */
export function stageOf(run: Run, event: number): string {
  const step = run.steps[stepsUntil(run, event) - 1];
  const phases = countUntil((i) => run.phases[i]!.event, run.phases.length, event);
  const phase = run.phases[phases - 1];
  return [step ? `step ${step.number}` : "", phase ? phase.name : ""]
    .filter((part) => part !== "")
    .join(", ");
}

/** "event 12,345 · 3.20 s · step 2, backward" */
export function positionOf(run: Run, event: number, ns: number): string {
  return [`event ${formatCount(event)}`, formatDuration(ns), stageOf(run, event)]
    .filter((part) => part !== "")
    .join(" · ");
}
