// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Places the nodes of a tree as a flame graph. For the treemap see treemap.ts.

import { childrenAt, type Tree } from "./tree.ts";

/** A box in pixels. It comes before the boxes that lie upon it in a list. */
export interface Box {
  readonly node: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly kind: "leaf" | "parent" | "rest"; // children lie upon a parent; a rest has no name
  readonly depth: number; // number of boxes below it
  readonly from: number; // the node, or an ancestor that is shown as one with it
}

export interface Row {
  readonly node: number;
  readonly depth: number; // of the root of the layout: 0
  readonly x0: number; // of the root's width
  readonly x1: number;
}

/** Returns parents before children, in an order that time does not change, without rows below `least` of the root. */
export function flameRows(tree: Tree, root: number, least: number): Row[] {
  const whole = tree.bytes[root]!;
  if (!(whole > 0)) return [];
  const rows: Row[] = [{ node: root, depth: 0, x0: 0, x1: 1 }];
  for (let i = 0; i < rows.length; ++i) {
    const above = rows[i]!;
    let x0 = above.x0;
    for (const node of childrenAt(tree, above.node, least * whole)) {
      const x1 = Math.min(x0 + tree.bytes[node]! / whole, above.x1);
      rows.push({ node, depth: above.depth + 1, x0, x1 });
      x0 = x1;
    }
  }
  return rows;
}

/** Puts the root on top, and its callees below it. */
export function flameBoxes(rows: readonly Row[], width: number, rowHeight: number): Box[] {
  return rows.map(({ node, depth, x0, x1 }) => ({
    node,
    x: x0 * width,
    y: depth * rowHeight,
    width: (x1 - x0) * width,
    height: rowHeight,
    kind: "leaf",
    depth,
    from: node,
  }));
}

/** Returns the top box at a point. */
export function boxAt(boxes: readonly Box[], x: number, y: number): Box | undefined {
  return boxes.findLast(
    (box) => box.x <= x && x < box.x + box.width && box.y <= y && y < box.y + box.height,
  );
}
