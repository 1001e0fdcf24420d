// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { clamped, showing, zoomed } from "#page/timeline/zoom.ts";

test("a range keeps its width at the ends of the run", () => {
  assert.deepEqual(clamped({ from: -50, to: 49 }, 1000), { from: 1, to: 100 });
  assert.deepEqual(clamped({ from: 950, to: 1049 }, 1000), { from: 901, to: 1000 });
});

test("a range is never wider than the run, nor too narrow to be seen", () => {
  assert.deepEqual(clamped({ from: -10, to: 90 }, 30), { from: 1, to: 30 });
  assert.deepEqual(clamped({ from: 500, to: 500 }, 1000), { from: 500, to: 509 });
  assert.deepEqual(clamped({ from: 1, to: 1 }, 4), { from: 1, to: 4 });
});

test("the center of a zoom stays in place", () => {
  const before = { from: 1, to: 1000 };
  const after = zoomed(before, 251, 0.5, 1000);
  const share = (at: number, { from, to }: typeof before): number => (at - from) / (to - from);
  assert.ok(Math.abs(share(251, after) - share(251, before)) < 0.01);
  assert.deepEqual(zoomed(after, 251, 2, 1000), before);
});

test("a moment out of sight moves the range, one in sight does not", () => {
  const range = { from: 100, to: 200 };
  assert.equal(showing(range, 150, 1000), range);
  assert.deepEqual(showing(range, 700, 1000), { from: 650, to: 750 });
});
