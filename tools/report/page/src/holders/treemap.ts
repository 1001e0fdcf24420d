// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Places the nodes of a tree: areas are proportional to bytes, and children lie upon their parents
// below a strip with the parent's name. d3-hierarchy divides one box among its children. Its layout
// of a whole tree would visit every node, while here only the few hundred visible ones are laid
// out.

import { type HierarchyRectangularNode, treemapSquarify } from "d3-hierarchy";
import type { Box } from "./layout.ts";
import { childrenAt, largestChild, type Tree } from "./tree.ts";

export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Aims at squares; the default of d3-hierarchy is the golden ratio. */
const squarify = treemapSquarify.ratio(1);

/** Divides `whole` in proportion to `weights`, which are positive. Falling weights give the squarest places. */
export function squarified(weights: readonly number[], whole: Area): Area[] {
  const places = weights.map((value) => ({ value, x0: 0, y0: 0, x1: 0, y1: 0 }));
  const value = weights.reduce((sum, weight) => sum + weight, 0);
  // squarify reads nothing else of a node, and writes the corners of the children.
  const parent = { value, children: places } as HierarchyRectangularNode<unknown>;
  squarify(parent, whole.x, whole.y, whole.x + whole.width, whole.y + whole.height);
  return places.map(({ x0, y0, x1, y1 }) => ({ x: x0, y: y0, width: x1 - x0, height: y1 - y0 }));
}

export interface Treemap {
  readonly boxes: Box[];
  /** Maps nodes to the descendant that has their box, because it holds all of their bytes. */
  readonly sameAs: ReadonlyMap<number, number>;
}

const STRIP = 17; // pixels: one line of text
const EDGE = 2;
const LEAST_DIVIDED = { width: 44, height: 2 * STRIP };
const LEAST_AREA = 6; // area of a box that is drawn

class TreemapLayout {
  readonly boxes: Box[] = [];
  readonly sameAs = new Map<number, number>();
  private readonly tree: Tree;

  constructor(tree: Tree) {
    this.tree = tree;
  }

  /** Returns the end of a chain of only children, each of which holds all that its parent does. */
  private endOfChain(node: number): number {
    const chain: number[] = [];
    let end = node;
    for (;;) {
      const only = largestChild(this.tree, end);
      if (only === undefined || this.tree.bytes[only] !== this.tree.bytes[end]) break;
      chain.push(end);
      end = only;
    }
    for (const above of chain) this.sameAs.set(above, end);
    return end;
  }

  place(from: number, area: Area, depth: number): void {
    const node = this.endOfChain(from);
    const children = this.shownChildren(node, area);
    const kind = children.length > 0 ? "parent" : "leaf";
    this.boxes.push({ node, from, kind, depth, ...area });
    if (kind === "parent") this.divide(node, children, area, depth + 1);
  }

  private shownChildren(node: number, { width, height }: Area): number[] {
    if (width < LEAST_DIVIDED.width || height < LEAST_DIVIDED.height) return [];
    const { bytes } = this.tree;
    const least = (LEAST_AREA / (width * height)) * bytes[node]!;
    return childrenAt(this.tree, node, least).sort((a, b) => bytes[b]! - bytes[a]! || a - b);
  }

  /** The node's own bytes and children too small to show form a rest. */
  private divide(node: number, children: readonly number[], whole: Area, depth: number): void {
    const { bytes } = this.tree;
    const held = children.map((child) => bytes[child]!);
    const rest = bytes[node]! - held.reduce((sum, bytes) => sum + bytes, 0);
    const places = squarified(rest > 0 ? [...held, rest] : held, {
      x: whole.x + EDGE,
      y: whole.y + STRIP,
      width: whole.width - 2 * EDGE,
      height: whole.height - STRIP - EDGE,
    });
    places.forEach((place, i) => {
      const child = children[i];
      if (place.width * place.height < LEAST_AREA) return;
      if (child !== undefined) this.place(child, place, depth);
      else this.boxes.push({ node, from: node, kind: "rest", depth, ...place });
    });
  }
}

export function treemapOf(tree: Tree, root: number, area: Area): Treemap {
  const layout = new TreemapLayout(tree);
  if (tree.bytes[root]! > 0 && area.width > 0 && area.height > 0) layout.place(root, area, 0);
  return layout;
}
