// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The position of an event in the run: its time, step and phase.

import { translated } from "./messages.ts";
import type { Run } from "./model.ts";
import { countUntil } from "./sorted.ts";
import { formatCount, formatDuration } from "./text.ts";

/** Returns the number of steps that began until `event`. */
export function stepsUntil(run: Run, event: number): number {
  return countUntil((i) => run.steps[i]!.event, run.steps.length, event);
}

/** Returns "step 2, backward"; "" if the trace names neither. */
export function stageOf(run: Run, event: number): string {
  const step = run.steps[stepsUntil(run, event) - 1];
  const phases = countUntil((i) => run.phases[i]!.event, run.phases.length, event);
  const phase = run.phases[phases - 1];
  if (!step) return phase?.name ?? "";
  return phase
    ? translated("step $0, $1", step.number, phase.name)
    : translated("step $0", step.number);
}

/** Returns "event 12,345 · 3.20 s · step 2, backward". */
export function positionWords(run: Run, event: number): string {
  const time = formatDuration(run.clock.at(event));
  return [translated("event $0", formatCount(event)), time, stageOf(run, event)]
    .filter((part) => part !== "")
    .join(" · ");
}
