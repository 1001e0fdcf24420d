// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { Labels } from "#page/holders/labels.ts";
import { moved, Place } from "#page/holders/place.ts";
import { ROOT } from "#page/holders/outline.ts";
import { crumbsOf, figuresOf, formatShare, missingWords, wholeName } from "#page/holders/words.ts";
import { card } from "./support/runs.ts";
import { nodeAt, SMALL, treeOf } from "./support/trees.ts";

const tree = treeOf(SMALL, "stack", 10);
const main = nodeAt(tree.outline, "main.py:1 main");
const step = nodeAt(tree.outline, "main.py:1 main", "train.py:2 step");
const forward = nodeAt(tree.outline, "main.py:1 main", "train.py:2 step", "linear.py:3 forward");
const update = nodeAt(tree.outline, "main.py:1 main", "train.py:2 step", "adam.py:4 update");

test("only the whole is 100 %, and only nothing is 0 %", () => {
  const shares = [0, 1, 410, 9_949, 9_999, 10_000].map((part) => formatShare(part, 10_000));
  assert.deepEqual(shares, ["0 %", "under 0.1 %", "4.1 %", "99 %", "over 99 %", "100 %"]);
  assert.equal(formatShare(0, 0), "0 %");
});

test("a node's figures are exact bytes, share, blocks and role", () => {
  assert.equal(figuresOf(tree, update), "30 bytes, 30 % of 100 bytes, 1 block, parameters");
  assert.equal(
    figuresOf(tree, main),
    "90 bytes, 90 % of 100 bytes, 2 blocks, activations (67 % of it)",
  );
  const other = treeOf(SMALL, "stack", 1, 30);
  assert.equal(figuresOf(other, other.outline.missing), "30 bytes, 50 % of 60 bytes");
});

test("unlisted small blocks are mentioned", () => {
  const partly = card({ leastBytes: 65_536, exact: [[10, 20]] });
  const wordsAt = (event: number) => missingWords({ card: partly, event, missing: 5 });
  assert.match(wordsAt(9), /blocks smaller than 64.0 KiB/);
  assert.equal(wordsAt(10), "");
});

test("a module is named with the way to it, a frame by itself", () => {
  const modules = treeOf(SMALL, "module", 10);
  const mlp = nodeAt(modules.outline, "layers", "layers.0", "mlp");
  assert.equal(wholeName(modules, mlp), "layers › layers.0 › mlp");
  assert.equal(wholeName(modules, ROOT), "All in use");
  assert.equal(wholeName(tree, update), "adam.py:4 update");
});

test("arrows go to the callee, the caller and the siblings", () => {
  assert.equal(moved(tree, ROOT, step, "ArrowDown"), forward);
  assert.equal(moved(tree, ROOT, update, "ArrowDown"), update);
  assert.equal(moved(tree, ROOT, update, "ArrowUp"), step);
  assert.equal(moved(tree, ROOT, forward, "ArrowRight"), update);
  assert.equal(moved(tree, ROOT, update, "ArrowRight"), update);
  assert.equal(moved(tree, ROOT, update, "Home"), forward);
  assert.equal(moved(tree, ROOT, forward, "End"), update);
  assert.equal(moved(tree, ROOT, forward, "x"), undefined);
});

test("arrows do not leave the zoomed node", () => {
  assert.equal(moved(tree, main, main, "ArrowUp"), main);
  assert.equal(moved(tree, main, main, "ArrowRight"), main);
});

test("zooming out goes back through the zoomed nodes and focuses the one that it leaves", () => {
  const place = new Place();
  place.zoomTo(main);
  place.zoomTo(update);
  assert.deepEqual([place.root(tree), place.focused(tree)], [update, update]);
  assert.ok(place.zoomOut());
  assert.deepEqual([place.root(tree), place.focused(tree)], [main, update]);
  assert.ok(place.zoomOut());
  assert.ok(!place.zoomOut());
  assert.equal(place.root(tree), ROOT);
});

test("a zoom outlasts a moment at which its node holds nothing", () => {
  const place = new Place();
  place.zoomTo(forward);
  const early = treeOf(SMALL, "stack", 1);
  assert.deepEqual([place.root(early), place.focused(early)], [step, step]);
  assert.equal(place.root(tree), forward);
});

test("the focused node is within the zoomed node", () => {
  const place = new Place();
  place.zoomTo(main);
  place.focus(nodeAt(tree.outline, "(no stack)"));
  assert.equal(place.focused(tree), main);
});

test("a long way is shown by its ends", () => {
  assert.deepEqual(crumbsOf([0, 1, 2]), [0, 1, 2]);
  assert.deepEqual(crumbsOf([0, 1, 2, 3, 4, 5, 6, 7]), [0, null, 4, 5, 6, 7]);
});

test("a label is shortened to its room, and left out if two characters do not fit", () => {
  const labels = new Labels((text) => 10 * text.length);
  assert.equal(labels.fitted("forward", 70), "forward");
  assert.equal(labels.fitted("forward", 50), "forw…");
  assert.equal(labels.fitted("forward", 29), "");
});

test("a label that has too little room loses its folder first", () => {
  const labels = new Labels((text) => 10 * text.length);
  assert.equal(labels.fitted("torch/nn/linear.py:3 forward", 200), "linear.py:3 forward");
  assert.equal(labels.fitted("layers.12", 40), "12");
  assert.equal(labels.first(["step 30 bytes", "step"], 50), "step");
});
