// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  changedWords,
  figureOf,
  growthWords,
  matchWords,
  shrinkageWords,
} from "#page/diff/words.ts";
import { find, matchingNames } from "#page/holders/search.ts";
import { ROOT } from "#page/holders/outline.ts";
import { differenceAt, LATER, SMALL_TO_LATER as CHANGE } from "./support/changes.ts";
import { MIB } from "./support/runs.ts";
import { nodeAt, SMALL } from "./support/trees.ts";

const words = (...names: string[]): string =>
  changedWords(CHANGE, nodeAt(CHANGE.outline, "main.py main", "train.py:2 step", ...names));

test("a change has both sides, and new or gone memory is named so", () => {
  assert.equal(
    words("linear.py:3 forward"),
    "+30 bytes (50 % more): 60 bytes in 1 block before, 90 bytes in 1 block after, activations",
  );
  assert.equal(words("cache.py:5 keep"), "new, 5 bytes in 1 block, KV cache");
  assert.equal(words("adam.py:4 update"), "gone, 30 bytes in 1 block, parameters");
  assert.equal(
    changedWords(CHANGE, nodeAt(CHANGE.outline, "(no stack)")),
    "as before, 10 bytes in 1 block, of unknown role",
  );
  assert.match(changedWords(CHANGE, ROOT), /^\+5 bytes \(5\.0 % more\): 100 bytes in 3 blocks/);
});

test("as much memory may be new as is gone", () => {
  const change = differenceAt(SMALL, LATER, "module");
  assert.equal(
    changedWords(change, nodeAt(change.outline, "layers")),
    "as much as before, but not all of it the same, 90 bytes in 1 block, activations",
  );
});

test("growth beyond double is a multiple", () => {
  const change = differenceAt(SMALL, SMALL, "stack", [1, 10]);
  const node = nodeAt(change.outline, "main.py:1 main");
  assert.match(changedWords(change, node), /^\+60 bytes \(3\.0 times as much\): 30 bytes/);
});

test("a box has the change and its kind", () => {
  const figures = [
    [0, 2],
    [2, 0],
    [2, 3],
    [3, 2],
    [2, 2],
  ].map(([before, after]) => figureOf({ before: before! * MIB, after: after! * MIB }));
  assert.deepEqual(figures, ["new 2.0 MiB", "gone 2.0 MiB", "+1.0 MiB", "-1.0 MiB", "2.0 MiB"]);
});

test("a search has the bytes of its matches before and after", () => {
  const search = (text: string): string =>
    matchWords(CHANGE, find(CHANGE, matchingNames(CHANGE.outline, text)));
  assert.equal(search("step"), "1 match, 90 bytes before, 95 bytes after (+5 bytes)");
  assert.equal(search("(no"), "1 match, 10 bytes before, 10 bytes after (as before)");
  assert.equal(search("none"), "no match");
});

test("a sum of growth has its new part, a sum of shrinkage the part that is gone", () => {
  assert.equal(growthWords(0, 0), "nothing grew");
  assert.equal(growthWords(3 * MIB, 0), "grew by 3.0 MiB");
  assert.equal(growthWords(3 * MIB, MIB), "grew by 3.0 MiB, 1.0 MiB of it new");
  assert.equal(growthWords(3 * MIB, 3 * MIB), "grew by 3.0 MiB, all of it new");
  assert.equal(shrinkageWords(3 * MIB, 3 * MIB - 1), "shrank by 3.0 MiB, nearly all of it gone");
});
