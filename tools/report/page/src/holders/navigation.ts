// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Moving through the tree by keys, as the picture lies: what is called stands below its caller.

import { childrenAt, type Tree } from "./tree.ts";

/** Where `key` leads from `node`, within what is below `root`; undefined if it is no such key. */
export function moved(tree: Tree, root: number, node: number, key: string): number | undefined {
  if (key === "ArrowDown") return childrenAt(tree, node)[0] ?? node;
  if (key === "ArrowUp") return node === root ? root : tree.outline.parent[node]!;
  const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[key];
  if (step === undefined) return undefined;
  if (node === root) return root;
  const siblings = childrenAt(tree, tree.outline.parent[node]!);
  const to = siblings.indexOf(node) + step;
  return siblings[Math.min(Math.max(to, 0), siblings.length - 1)]!;
}

/** Whether `node` is `root` or below it. */
export function isBelow(tree: Tree, root: number, node: number): boolean {
  let at = node;
  while (at > root) at = tree.outline.parent[at]!;
  return at === root;
}
