// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { moved, nearest } from "#page/frontier/frontier.ts";
import { FRONTIER } from "./support/frontiers.ts";

test("the nearest point is described, wherever the pointer is", () => {
  assert.equal(nearest(FRONTIER, 100, 60), 0);
  assert.equal(nearest(FRONTIER, 510, 200), 1);
  assert.equal(nearest(FRONTIER, 2000, -50), 2);
});

test("keys lead along the memory that runs need, and stop at the ends", () => {
  assert.equal(moved(FRONTIER, 0, "ArrowRight"), 1);
  assert.equal(moved(FRONTIER, 0, "ArrowLeft"), 0);
  assert.equal(moved(FRONTIER, 2, "ArrowUp"), 2);
  assert.equal(moved(FRONTIER, 1, "Home"), 0);
  assert.equal(moved(FRONTIER, 1, "End"), 2);
  assert.equal(moved(FRONTIER, 1, "Enter"), null);
});
