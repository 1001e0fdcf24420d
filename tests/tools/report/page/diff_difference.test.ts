// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfMatches, shareOf } from "#page/diff/difference.ts";
import { ROOT } from "#page/holders/outline.ts";
import { moved } from "#page/holders/place.ts";
import { find, matchingNames } from "#page/holders/search.ts";
import { changeLines, differenceAt, LATER, SMALL_TO_LATER as CHANGE } from "./support/changes.ts";
import { nodeAt, SMALL } from "./support/trees.ts";

test("the same path in both runs is one node, even if a line moved", () => {
  assert.deepEqual(changeLines(CHANGE), [
    "All in use 100 -> 105 of 135",
    "  main.py main 90 -> 95 of 125",
    "    train.py:2 step 90 -> 95 of 125",
    "      linear.py:3 forward 60 -> 90 of 90",
    "      adam.py:4 update 30 -> 0 of 30",
    "      cache.py:5 keep 0 -> 5 of 5",
    "  (no stack) 10 -> 10 of 10",
    "    (in forward) 10 -> 10 of 10",
  ]);
});

test("by module, roles of a module are apart", () => {
  assert.deepEqual(changeLines(differenceAt(SMALL, LATER, "module")).slice(1, 9), [
    "  layers 90 -> 90 of 120",
    "    layers.0 90 -> 90 of 120",
    "      mlp 90 -> 90 of 120",
    "        activations 60 -> 90 of 90",
    "        weight 30 -> 0 of 30",
    "          parameters 30 -> 0 of 30",
    "  (no module) 10 -> 10 of 10",
    "    (in forward) 10 -> 10 of 10",
  ]);
});

test("two moments of one run need no second outline", () => {
  const change = differenceAt(SMALL, { ...SMALL, told: { card: 0, event: 30 } }, "stack", [10, 30]);
  assert.deepEqual(changeLines(change).slice(3, 5), [
    "      linear.py:3 forward 60 -> 100 of 100",
    "      adam.py:4 update 30 -> 30 of 30",
  ]);
});

test("sums count the own bytes of each node", () => {
  assert.deepEqual(CHANGE.sums, { grew: 35, isNew: 5, shrank: 30, isGone: 30, stayed: 70 });
});

test("a share is 1 if all is new, -1 if all is gone, and between if both happened", () => {
  const place = ["main.py main", "train.py:2 step"];
  const share = (...names: string[]): number => shareOf(CHANGE, nodeAt(CHANGE.outline, ...names));
  assert.equal(share(...place, "cache.py:5 keep"), 1);
  assert.equal(share(...place, "adam.py:4 update"), -1);
  assert.equal(share(...place, "linear.py:3 forward"), 1 / 3);
  assert.equal(share("(no stack)"), 0);
  assert.equal(share(...place), 5 / 125);
});

test("a search also finds memory that is gone", () => {
  const found = find(CHANGE, matchingNames(CHANGE.outline, "py:"));
  assert.equal(found.matches, 4);
  assert.deepEqual(bytesOfMatches(CHANGE, found), { before: 90, after: 95 });
  const gone = find(CHANGE, matchingNames(CHANGE.outline, "update"));
  assert.deepEqual(bytesOfMatches(CHANGE, gone), { before: 30, after: 0 });
});

test("keys lead to memory that is gone and to memory that is new", () => {
  const step = nodeAt(CHANGE.outline, "main.py main", "train.py:2 step");
  const forward = moved(CHANGE, ROOT, step, "ArrowDown")!;
  assert.equal(CHANGE.bytes[forward], 90);
  const update = moved(CHANGE, ROOT, forward, "ArrowRight")!;
  assert.equal(CHANGE.after.bytes[update], 0);
  assert.equal(CHANGE.before.bytes[moved(CHANGE, ROOT, update, "End")!], 0);
});
