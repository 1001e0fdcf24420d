// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { outlineOf, pathTo, ROOT } from "#page/holders/outline.ts";
import { mainRole, nearestHeld, treeAt } from "#page/holders/tree.ts";
import { card, origin, pieces, run, stacks } from "./support/runs.ts";
import { linesOf, nodeAt, SMALL, treeOf } from "./support/trees.ts";

test("by stack, memory without a stack is below its site", () => {
  assert.deepEqual(linesOf(treeOf(SMALL, "stack", 10)), [
    "All in use 100",
    "  main.py:1 main 90",
    "    train.py:2 step 90",
    "      linear.py:3 forward 60",
    "      adam.py:4 update 30",
    "  (no stack) 10",
    "    (in forward) 10",
  ]);
});

test("by module, roles are the leaves and a number has its list's name", () => {
  assert.deepEqual(linesOf(treeOf(SMALL, "module", 10)), [
    "All in use 100",
    "  layers 90",
    "    layers.0 90",
    "      mlp 90",
    "        activations 60",
    "        weight 30",
    "          parameters 30",
    "  (no module) 10",
    "    (in forward) 10",
    "      of unknown role 10",
  ]);
});

test("a freed or future block is not in use", () => {
  assert.equal(treeOf(SMALL, "stack", 1).bytes[ROOT], 30);
  assert.equal(treeOf(SMALL, "stack", 19).bytes[ROOT], 140);
  assert.equal(treeOf(SMALL, "stack", 20).bytes[ROOT], 130);
});

test("nodes keep their numbers from moment to moment", () => {
  const outline = outlineOf(SMALL, "stack");
  const update = nodeAt(outline, "main.py:1 main", "train.py:2 step", "adam.py:4 update");
  const at = (event: number) => treeAt(outline, { card: SMALL.cards[0]!, event, missing: 0 });
  assert.equal(at(1).bytes[update], 30);
  assert.equal(at(99).bytes[update], 30);
});

test("bytes that are no piece are one child of the root, and its sum", () => {
  const tree = treeOf(SMALL, "stack", 1, 7);
  assert.deepEqual(linesOf(tree).slice(-1), ["  (blocks too small to be listed) 7"]);
  assert.equal(tree.bytes[ROOT], 37);
});

test("the main role is the one with most bytes below a node", () => {
  const tree = treeOf(SMALL, "stack", 10);
  assert.deepEqual(mainRole(tree, ROOT), { role: "activation", bytes: 60 });
  const update = nodeAt(tree.outline, "main.py:1 main", "train.py:2 step", "adam.py:4 update");
  assert.deepEqual(mainRole(tree, update), { role: "parameter", bytes: 30 });
});

test("a block of several pieces is one block in each node that has some of it", () => {
  const flat = run({
    origins: ["a.x", "a.y", "b"].map((path) => origin({ role: "parameter", path })),
    cards: [
      card({
        pieces: pieces(
          { born: 1, address: 0, bytes: 1, origin: 0 },
          { born: 1, address: 1, bytes: 1, origin: 1 },
          { born: 1, address: 2, bytes: 1, origin: 0 },
          { born: 1, address: 3, bytes: 1, origin: 2 },
          { born: 2, address: 9, bytes: 1, origin: 1 },
        ),
      }),
    ],
  });
  const { outline, blocks } = treeOf(flat, "module", 5);
  const count = (...names: string[]) => blocks[nodeAt(outline, ...names)];
  assert.deepEqual([count(), count("a"), count("a", "x"), count("a", "y")], [2, 2, 1, 2]);
  assert.deepEqual([count("b"), count("b", "parameters")], [1, 1]);
});

test("a piece with the stack of another's caller is that frame's own", () => {
  const inner = run({
    origins: [origin({ stack: 1 }), origin({ stack: 2 })],
    stacks: stacks([0, "outer"], [1, "inner"]),
    cards: [
      card({
        pieces: pieces(
          { born: 1, address: 0, bytes: 5, origin: 0 },
          { born: 2, address: 9, bytes: 2, origin: 1 },
        ),
      }),
    ],
  });
  assert.deepEqual(linesOf(treeOf(inner, "stack", 3)), [
    "All in use 7",
    "  outer 7",
    "    inner 2",
  ]);
});

test("a circle among stacks is cut", () => {
  const circle = run({
    origins: [origin({ stack: 1 })],
    stacks: stacks([2, "a"], [1, "b"]),
    cards: [card({ pieces: pieces({ born: 1, address: 0, bytes: 5 }) })],
  });
  assert.deepEqual(linesOf(treeOf(circle, "stack", 1)), ["All in use 5", "  a 5"]);
});

test("the nearest ancestor with bytes is above a node without bytes", () => {
  const tree = treeOf(SMALL, "stack", 1);
  const forward = nodeAt(tree.outline, "main.py:1 main", "train.py:2 step", "linear.py:3 forward");
  assert.equal(nearestHeld(tree, forward), tree.outline.parent[forward]);
  assert.equal(nearestHeld(tree, nodeAt(tree.outline, "(no stack)")), ROOT);
  assert.equal(pathTo(tree.outline, forward).length, 4);
});
