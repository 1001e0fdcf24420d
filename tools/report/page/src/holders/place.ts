// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The zoomed, focused and pointed node of the tree. All stay while time moves, even if a node holds
// nothing at some moments.

import { ROOT } from "./outline.ts";
import { childrenAt, largestChild, nearestHeld, type Tree } from "./tree.ts";

/**
 * Returns where `key` leads from `node`, within `root`; undefined for any other key. Callees lie
 * below their caller.
 */
export function moved(tree: Tree, root: number, node: number, key: string): number | undefined {
  if (key === "ArrowDown") return largestChild(tree, node) ?? node;
  if (key === "ArrowUp") return node === root ? root : tree.outline.parent[node]!;
  const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[key];
  if (step === undefined) return undefined;
  if (node === root) return root;
  const siblings = childrenAt(tree, tree.outline.parent[node]!);
  const to = siblings.indexOf(node) + step;
  return siblings[Math.min(Math.max(to, 0), siblings.length - 1)]!;
}

function isWithin({ outline }: Tree, root: number, node: number): boolean {
  let at = node;
  while (at > root) at = outline.parent[at]!;
  return at === root;
}

const NONE = -1;

export class Place {
  private zooms: number[] = [ROOT];
  private wanted = ROOT; // the node to be focused
  private pointed = NONE;

  /** Returns the zoomed node, or its nearest ancestor that holds something. */
  root(tree: Tree): number {
    return nearestHeld(tree, this.zooms.at(-1)!);
  }

  focused(tree: Tree): number {
    const root = this.root(tree);
    const node = nearestHeld(tree, this.wanted);
    return isWithin(tree, root, node) ? node : root;
  }

  /** Returns the node; -1: none. */
  get hovered(): number {
    return this.pointed;
  }

  /** Starts again for another outline. */
  reset(): void {
    [this.zooms, this.wanted, this.pointed] = [[ROOT], ROOT, NONE];
  }

  focus(node: number): void {
    [this.wanted, this.pointed] = [node, NONE];
  }

  /** True if that is a change. */
  hover(node: number): boolean {
    const isOther = node !== this.pointed;
    this.pointed = node;
    return isOther;
  }

  zoomTo(node: number): void {
    if (node !== this.zooms.at(-1)) this.zooms.push(node);
    this.focus(node);
  }

  /** Zooms back to the earlier node; false if there was none. */
  zoomOut(): boolean {
    if (this.zooms.length === 1) return false;
    this.focus(this.zooms.pop()!);
    return true;
  }
}
