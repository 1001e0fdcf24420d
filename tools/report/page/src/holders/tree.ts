// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory in use on a card just after an event, as a tree: an outline's nodes with their bytes.

import type { Card, Pieces } from "../model.ts";
import { bornUntil, isInUse } from "../moment.ts";
import { type Outline, ROOT } from "./outline.ts";

/** The tree that a graph draws, with the share of each node in its parent. */
export interface Tree {
  readonly outline: Outline;
  readonly bytes: Float64Array; // by node: requested, including its descendants
}

export interface Holdings extends Tree {
  readonly blocks: Int32Array; // by node: blocks with a piece in it or below
  readonly bytesOfRole: Float64Array; // by node times roles, plus role
}

export interface Moment {
  readonly card: Card;
  readonly event: number;
  readonly missing: number; // bytes in use that are not pieces
}

/** Counts a block once in each node, even if several of its pieces are there. */
class BlockCount {
  private readonly parent: Int32Array;
  readonly blocks: Int32Array; // blocks of the node minus the sum of its children's
  private readonly seenBy: Float64Array; // the last block that reached the node, by its birth

  constructor(parent: Int32Array) {
    this.parent = parent;
    this.blocks = new Int32Array(parent.length);
    this.seenBy = new Float64Array(parent.length);
  }

  addWhole(leaf: number): void {
    ++this.blocks[leaf]!;
  }

  addPart(leaf: number, born: number): void {
    if (this.seenBy[leaf] === born) return;
    ++this.blocks[leaf]!;
    let at = leaf;
    for (; at >= 0 && this.seenBy[at] !== born; at = this.parent[at]!) this.seenBy[at] = born;
    if (at >= 0) --this.blocks[at]!;
  }
}

const isWhole = ({ born }: Pieces, i: number): boolean =>
  born[i] !== born[i - 1] && born[i] !== born[i + 1];

/** Adds the figures of each node's descendants to its own. */
function sumUp({ outline, bytes, blocks, bytesOfRole }: Holdings): void {
  const roles = outline.roles.length;
  for (let node = outline.count - 1; node > ROOT; --node) {
    if (bytes[node] === 0 && blocks[node] === 0) continue;
    const parent = outline.parent[node]!;
    bytes[parent]! += bytes[node]!;
    blocks[parent]! += blocks[node]!;
    for (let role = 0; role < roles; ++role)
      bytesOfRole[parent * roles + role]! += bytesOfRole[node * roles + role]!;
  }
}

export function treeAt(outline: Outline, { card, event, missing }: Moment): Holdings {
  const { pieces } = card;
  const count = new BlockCount(outline.parent);
  const ofOrigin = new Float64Array(outline.leaf.length);
  const end = bornUntil(pieces, event);
  for (let i = 0; i < end; ++i) {
    if (!isInUse(pieces, i, event)) continue;
    const origin = pieces.origin[i]!;
    ofOrigin[origin]! += pieces.bytes[i]!;
    if (isWhole(pieces, i)) count.addWhole(outline.leaf[origin]!);
    else count.addPart(outline.leaf[origin]!, pieces.born[i]!);
  }
  return treeOf(outline, ofOrigin, count.blocks, missing);
}

function treeOf(
  outline: Outline,
  ofOrigin: Float64Array,
  blocks: Int32Array,
  missing: number,
): Holdings {
  const roles = outline.roles.length;
  const bytes = new Float64Array(outline.count);
  const bytesOfRole = new Float64Array(outline.count * roles);
  const add = (node: number, role: number, amount: number): void => {
    bytes[node]! += amount;
    bytesOfRole[node * roles + role]! += amount;
  };
  ofOrigin.forEach((amount, i) => {
    if (amount > 0) add(outline.leaf[i]!, outline.role[i]!, amount);
  });
  add(outline.missing, 0, Math.max(missing, 0));
  const tree = { outline, bytes, blocks, bytesOfRole };
  sumUp(tree);
  return tree;
}

/** Returns children that hold at least `least` bytes and more than none, always in the same order. */
export function childrenAt({ outline, bytes }: Tree, node: number, least = 0): number[] {
  const children: number[] = [];
  for (let i = outline.childStart[node]!; i < outline.childStart[node + 1]!; ++i) {
    const child = outline.child[i]!;
    if (bytes[child]! > 0 && bytes[child]! >= least) children.push(child);
  }
  return children;
}

/** Returns the child that holds most. */
export function largestChild(tree: Tree, node: number): number | undefined {
  const { bytes } = tree;
  const children = childrenAt(tree, node);
  if (children.length === 0) return undefined;
  return children.reduce((most, child) => (bytes[child]! > bytes[most]! ? child : most));
}

/** Returns the role that has most bytes in a node, and how many. */
export function mainRole(tree: Holdings, node: number): { role: string; bytes: number } {
  const { roles } = tree.outline;
  const start = node * roles.length;
  let main = 0;
  for (let role = 1; role < roles.length; ++role)
    if (tree.bytesOfRole[start + role]! > tree.bytesOfRole[start + main]!) main = role;
  return { role: roles[main]!, bytes: tree.bytesOfRole[start + main]! };
}

/** Returns `node`, or its nearest ancestor that holds something; at least the root. */
export function nearestHeld({ outline, bytes }: Tree, node: number): number {
  let at = node;
  while (at !== ROOT && !(bytes[at]! > 0)) at = outline.parent[at]!;
  return at;
}
