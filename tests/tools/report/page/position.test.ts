// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { positionWords, stageOf, stepsUntil } from "#page/position.ts";
import { run } from "./support/runs.ts";

const STEPPED = run({
  steps: [
    { event: 10, number: 1 },
    { event: 20, number: 2 },
  ],
  phases: [
    { event: 10, name: "forward" },
    { event: 15, name: "backward" },
  ],
});

test("an event is in the last step and phase that began", () => {
  assert.equal(stageOf(STEPPED, 9), "");
  assert.equal(stageOf(STEPPED, 10), "step 1, forward");
  assert.equal(stageOf(STEPPED, 25), "step 2, backward");
  assert.equal(stepsUntil(STEPPED, 19), 1);
});

test("a position leaves out steps and phases that the trace lacks", () => {
  assert.equal(positionWords(run(), 12), "event 12 · 12.0 ms");
  assert.equal(positionWords(STEPPED, 12), "event 12 · 12.0 ms · step 1, forward");
});
