// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { find, matchingNames } from "#page/holders/search.ts";
import { searchWords } from "#page/holders/words.ts";
import { nodeAt, SMALL, treeOf } from "./support/trees.ts";

const tree = treeOf(SMALL, "stack", 10);
const search = (text: string) => find(tree, matchingNames(tree.outline, text));

test("a match within a match counts as a match, and its bytes once", () => {
  const { matches, bytes } = search(".PY:");
  assert.deepEqual({ matches, bytes }, { matches: 4, bytes: 90 });
});

test("matches beside each other add up", () => {
  const { matches, bytes } = search("forward");
  assert.deepEqual({ matches, bytes }, { matches: 2, bytes: 70 });
});

test("nodes below a match are within it, and nodes above are not", () => {
  const { isMatch, isWithin } = search("step");
  const step = nodeAt(tree.outline, "main.py:1 main", "train.py:2 step");
  const update = nodeAt(tree.outline, "main.py:1 main", "train.py:2 step", "adam.py:4 update");
  const at = (node: number) => [isMatch[node], isWithin[node]];
  assert.deepEqual(
    [at(step), at(update), at(tree.outline.parent[step]!)],
    [
      [1, 1],
      [0, 1],
      [0, 0],
    ],
  );
});

test("a node without bytes is no match", () => {
  const early = treeOf(SMALL, "stack", 1);
  assert.equal(find(early, matchingNames(early.outline, "forward")).matches, 0);
});

test("the result has the share of the matches", () => {
  assert.equal(searchWords(search("forward"), 100), "2 matches, 70 bytes (70 % of 100 bytes)");
  assert.equal(searchWords(search("step"), 100), "1 match, 90 bytes (90 % of 100 bytes)");
  assert.equal(searchWords(search("none"), 100), "no match");
});
