// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { boxAt, flameBoxes, flameRows } from "#page/holders/layout.ts";
import { nameOf, ROOT } from "#page/holders/outline.ts";
import { type Area, squarified, treemapOf } from "#page/holders/treemap.ts";
import { card, origin, pieces, run, stacks } from "./support/runs.ts";
import { nodeAt, SMALL, treeOf } from "./support/trees.ts";

const tree = treeOf(SMALL, "stack", 10);
const rowWords = (root: number, least: number): string[] =>
  flameRows(tree, root, least).map(
    ({ node, depth, x0, x1 }) =>
      `${depth} ${nameOf(tree.outline, node)} ${x0.toFixed(2)}-${x1.toFixed(2)}`,
  );

test("a row stands under its caller, siblings in an order that bytes do not change", () => {
  assert.deepEqual(rowWords(ROOT, 0), [
    "0 All in use 0.00-1.00",
    "1 main.py:1 main 0.00-0.90",
    "1 (no stack) 0.90-1.00",
    "2 train.py:2 step 0.00-0.90",
    "2 (in forward) 0.90-1.00",
    "3 linear.py:3 forward 0.00-0.60",
    "3 adam.py:4 update 0.60-0.90",
  ]);
});

test("the zoomed node has the whole width", () => {
  const main = nodeAt(tree.outline, "main.py:1 main");
  assert.deepEqual(rowWords(main, 0).at(-1), "2 adam.py:4 update 0.67-1.00");
});

test("nodes below the least width are left out", () => {
  assert.equal(rowWords(ROOT, 0.2).length, 5);
});

test("a point is in the box on top of it", () => {
  const boxes = flameBoxes(flameRows(tree, ROOT, 0), 100, 10);
  assert.equal(nameOf(tree.outline, boxAt(boxes, 61, 35)!.node), "adam.py:4 update");
  assert.equal(boxAt(boxes, 61, 45), undefined);
});

const aspect = ({ width, height }: Area): number => Math.max(width / height, height / width);

test("areas are in proportion, within the whole, and nearly square", () => {
  const weights = [6, 6, 4, 3, 2, 2, 1]; // the paper's example, with its result
  const places = squarified(weights, { x: 0, y: 0, width: 6, height: 4 });
  places.forEach(({ x, y, width, height }, i) => {
    assert.ok(Math.abs(width * height - weights[i]!) < 1e-9);
    assert.ok(x >= 0 && y >= 0 && x + width < 6 + 1e-9 && y + height < 4 + 1e-9);
  });
  assert.deepEqual(places[0], { x: 0, y: 0, width: 3, height: 2 });
  assert.ok(Math.max(...places.map(aspect)) < 3);
});

test("children lie within their parent, below its strip, and apart", () => {
  const { boxes } = treemapOf(tree, ROOT, { x: 0, y: 0, width: 400, height: 300 });
  const [root, ...rest] = boxes;
  for (const box of rest) {
    assert.ok(box.x >= root!.x && box.x + box.width <= root!.width);
    assert.ok(box.y >= root!.y + 10 && box.y + box.height <= root!.height);
  }
  const leaves = boxes.filter(({ kind }) => kind !== "parent");
  for (const a of leaves)
    for (const b of leaves)
      if (a !== b)
        assert.ok(
          a.x + a.width <= b.x + 1e-9 ||
            b.x + b.width <= a.x + 1e-9 ||
            a.y + a.height <= b.y + 1e-9 ||
            b.y + b.height <= a.y + 1e-9,
        );
});

test("a treemap has one box for a row of single children", () => {
  const { boxes, sameAs } = treemapOf(tree, ROOT, { x: 0, y: 0, width: 400, height: 300 });
  const main = nodeAt(tree.outline, "main.py:1 main");
  const step = nodeAt(tree.outline, "main.py:1 main", "train.py:2 step");
  assert.equal(sameAs.get(main), step);
  assert.ok(boxes.some(({ node }) => node === step));
  assert.ok(!boxes.some(({ node }) => node === main));
});

test("a parent's own bytes are a rest beside its children", () => {
  const own = run({
    origins: [origin({ stack: 1 }), origin({ stack: 2 })],
    stacks: stacks([0, "outer"], [1, "inner"]),
    cards: [
      card({
        pieces: pieces(
          { born: 1, address: 0, bytes: 90, origin: 0 },
          { born: 2, address: 900, bytes: 10, origin: 1 },
        ),
      }),
    ],
  });
  const held = treeOf(own, "stack", 2);
  const { boxes } = treemapOf(held, ROOT, { x: 0, y: 0, width: 400, height: 300 });
  const words = boxes.map(({ node, kind }) => `${kind} ${nameOf(held.outline, node)}`);
  assert.deepEqual(words, ["parent outer", "leaf inner", "rest outer"]);
  const [, inner, rest] = boxes.map(({ width, height }) => width * height);
  assert.ok(Math.abs(rest! / inner! - 9) < 1e-6);
});

test("nothing in use has no boxes", () => {
  const empty = treeOf(SMALL, "stack", 0);
  assert.deepEqual(flameRows(empty, ROOT, 0), []);
  assert.deepEqual(treemapOf(empty, ROOT, { x: 0, y: 0, width: 9, height: 9 }).boxes, []);
});
