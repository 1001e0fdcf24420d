// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Where in the run an event is: its time, step and phase.

import type { Run } from "./model.ts";
import { countUntil } from "./sorted.ts";
import { formatCount, formatDuration } from "./text.ts";

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
export function positionWords(run: Run, event: number): string {
  return [`event ${formatCount(event)}`, formatDuration(run.clock.at(event)), stageOf(run, event)]
    .filter((part) => part !== "")
    .join(" · ");
}
