// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { Scale } from "#page/timeline/scale.ts";

test("all timelines have the largest top and are notified of a change", () => {
  const scale = new Scale();
  const [one, two] = [{}, {}];
  const told: number[] = [];
  scale.listen((top) => told.push(top));
  scale.need(one, 5);
  scale.need(two, 9);
  scale.need(one, 7);
  scale.need(two, 6);
  assert.equal(scale.top, 7);
  assert.deepEqual(told, [5, 9, 7]);
});
