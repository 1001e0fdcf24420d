// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// All nodes that the tree of holders can have in this run. Their numbers are the same at every
// moment, so that zoom and focus stay while time moves.

import { translated } from "../messages.ts";
import type { Origin, Run, Stacks } from "../model.ts";
import { roleWords, siteWords } from "../names.ts";

export const ROOT = 0;

export interface Outline {
  readonly by: "stack" | "module";
  readonly count: number;
  readonly missing: number; // the root's last child: bytes in use that are not pieces
  readonly parent: Int32Array; // less than the node's own number; -1 of the root
  readonly names: readonly string[];
  readonly name: Uint32Array; // by node: index of `names`
  readonly isUser: readonly boolean[]; // by name: a frame of the user's own code
  readonly leaf: Uint32Array; // by origin: the node that has its bytes
  readonly childStart: Uint32Array; // by node: its children are child[childStart[n]..childStart[n+1]]
  readonly child: Uint32Array;
  readonly roles: readonly string[];
  readonly role: Uint32Array; // by origin: index of `roles`
}

export const nameOf = (outline: Outline, node: number): string =>
  outline.names[outline.name[node]!]!;

/** Returns the path from `from`, which is `node` or an ancestor, to `node`, both included. */
export function pathTo(outline: Outline, node: number, from = ROOT): number[] {
  const path = [node];
  for (let at = node; at !== from; path.push(at)) at = outline.parent[at]!;
  return path.reverse();
}

class Builder {
  readonly parent: number[] = [];
  readonly name: number[] = [];
  readonly names: string[] = [];
  readonly isUser: boolean[] = [];
  private readonly nameIndex = new Map<string, number>();
  private readonly known = new Map<number, number>();

  constructor() {
    this.child(-1, translated("All in use"));
  }

  /** Returns the only child of `parent` with this name. */
  child(parent: number, name: string, isUser = false): number {
    const index = this.intern(name);
    if (isUser) this.isUser[index] = true;
    const key = parent * 2 ** 32 + index;
    let node = this.known.get(key);
    if (node === undefined) {
      node = this.parent.push(parent) - 1;
      this.name.push(index);
      this.known.set(key, node);
    }
    return node;
  }

  private intern(name: string): number {
    let index = this.nameIndex.get(name);
    if (index === undefined) {
      index = this.names.push(name) - 1;
      this.isUser.push(false);
      this.nameIndex.set(name, index);
    }
    return index;
  }
}

/** Places stacks, each node once. */
class StackPlaces {
  private readonly builder: Builder;
  private readonly stacks: Stacks;
  private readonly nodeOf: Int32Array; // 0: not yet

  constructor(builder: Builder, stacks: Stacks) {
    this.builder = builder;
    this.stacks = stacks;
    this.nodeOf = new Int32Array(stacks.parent.length);
  }

  place(stack: number): number {
    const above: number[] = [];
    for (let at = stack; at !== 0 && this.nodeOf[at] === 0; at = this.caller(at)) above.push(at);
    for (const at of above.reverse()) {
      const frame = this.stacks.frame[at]!;
      const [name, isUser] = [this.stacks.names[frame]!, this.stacks.isUser[frame]!];
      this.nodeOf[at] = this.builder.child(this.nodeOf[this.caller(at)]!, name, isUser);
    }
    return this.nodeOf[stack]!;
  }

  /** Callers come before their callees, so that a damaged trace cannot form a circle. */
  private caller(node: number): number {
    const parent = this.stacks.parent[node]!;
    return parent < node ? parent : 0;
  }
}

function leavesByStack(builder: Builder, run: Sources): number[] {
  const places = new StackPlaces(builder, run.stacks);
  const without = (site: string): number => {
    const group = builder.child(ROOT, siteWords("(no stack)"));
    return site === "(no stack)" ? group : builder.child(group, siteWords(site));
  };
  return run.origins.map(({ stack, site }) => (stack === 0 ? without(site) : places.place(stack)));
}

/** Splits "layers.0.norm" into layers, layers.0, norm: a number alone would mean nothing. */
function partsOf(path: string): string[] {
  const parts = path.split(".");
  return parts.map((part, i) => (i > 0 && /^\d+$/.test(part) ? `${parts[i - 1]!}.${part}` : part));
}

function leavesByModule(builder: Builder, run: Sources): number[] {
  const partsOfOrigin = ({ path, module, site }: Origin): string[] =>
    path || module ? partsOf(path || module) : [siteWords("(no module)"), siteWords(site)];
  const namesOf = (origin: Origin): string[] => [...partsOfOrigin(origin), roleWords(origin.role)];
  return run.origins.map((origin) =>
    namesOf(origin).reduce((node, part) => builder.child(node, part), ROOT),
  );
}

/** Returns the children of each node in a row, those of node 0 first. */
function childrenOf(parent: Int32Array): Pick<Outline, "childStart" | "child"> {
  const childStart = new Uint32Array(parent.length + 1);
  for (let i = 1; i < parent.length; ++i) ++childStart[parent[i]! + 1]!;
  for (let i = 0; i < parent.length; ++i) childStart[i + 1]! += childStart[i]!;
  const next = childStart.slice();
  const child = new Uint32Array(Math.max(parent.length - 1, 0));
  for (let i = 1; i < parent.length; ++i) child[next[parent[i]!]!++] = i;
  return { childStart, child };
}

/** The role of missing bytes: they are in use, and nothing more is known of them. */
export const MISSING_ROLE = "live";

/** The inputs of an outline. */
export type Sources = Pick<Run, "origins" | "stacks">;

/** Returns the outline; by module, a module's bytes are also split by role. */
export function outlineOf(run: Sources, by: "stack" | "module"): Outline {
  const builder = new Builder();
  const leaf = (by === "stack" ? leavesByStack : leavesByModule)(builder, run);
  const missing = builder.child(ROOT, translated("(blocks too small to be listed)"));
  const parent = Int32Array.from(builder.parent);
  const roles = [...new Set([MISSING_ROLE, ...run.origins.map(({ role }) => role)])];
  const roleIndex = new Map(roles.map((role, i) => [role, i]));
  return {
    by,
    count: parent.length,
    missing,
    parent,
    names: builder.names,
    name: Uint32Array.from(builder.name),
    isUser: builder.isUser,
    leaf: Uint32Array.from(leaf),
    ...childrenOf(parent),
    roles,
    role: Uint32Array.from(run.origins, ({ role }) => roleIndex.get(role)!),
  };
}
