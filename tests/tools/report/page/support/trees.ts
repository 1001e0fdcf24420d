// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Trees of holders as text.

import { nameOf, type Outline, outlineOf, ROOT } from "#page/holders/outline.ts";
import { childrenAt, type Holdings, type Tree, treeAt } from "#page/holders/tree.ts";
import type { Run } from "#page/model.ts";
import { card, origin, pieces, run, stacks } from "./runs.ts";

/** Returns a line for each node that holds something: "  name bytes", indented by depth. */
export function linesOf(tree: Tree, node = ROOT, indent = ""): string[] {
  const line = `${indent}${nameOf(tree.outline, node)} ${tree.bytes[node]}`;
  const below = childrenAt(tree, node).flatMap((child) => linesOf(tree, child, `${indent}  `));
  return [line, ...below];
}

/** Returns the node at the end of these names from the root. */
export function nodeAt(outline: Outline, ...names: readonly string[]): number {
  return names.reduce((node, name) => {
    for (let i = outline.childStart[node]!; i < outline.childStart[node + 1]!; ++i)
      if (nameOf(outline, outline.child[i]!) === name) return outline.child[i]!;
    throw new Error(`no ${name} below ${nameOf(outline, node)}`);
  }, ROOT);
}

/** main calls step, which calls forward and update; all are in use at event 10 with 100 bytes. */
export const SMALL: Run = run({
  origins: [
    origin({ role: "activation", stack: 3, module: "layers.0.mlp", site: "forward" }),
    origin({ role: "parameter", stack: 4, path: "layers.0.mlp.weight", site: "update" }),
    origin({ role: "unknown", site: "(in forward)" }),
  ],
  stacks: stacks(
    [0, "main.py:1 main", true],
    [1, "train.py:2 step", true],
    [2, "linear.py:3 forward"],
    [2, "adam.py:4 update"],
  ),
  cards: [
    card({
      pieces: pieces(
        { born: 1, address: 0, bytes: 30, origin: 1 },
        { born: 2, address: 100, bytes: 60, origin: 0 },
        { born: 3, address: 200, bytes: 10, origin: 2, letGo: 20 },
        { born: 12, address: 300, bytes: 40, origin: 0 },
      ),
    }),
  ],
});

export const treeOf = (run: Run, by: "stack" | "module", event: number, missing = 0): Holdings =>
  treeAt(outlineOf(run, by), { card: run.cards[0]!, event, missing });
