// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Joins two runs, so that things of the same name are one node.

import type { Outline, Sources } from "../holders/outline.ts";
import type { Run, Stacks } from "../model.ts";
import { withoutMovedLines } from "./lines.ts";

/** Two moments of one run need no joining. */
const isOne = (before: Run, after: Run): boolean => before.origins === after.origins;

/** Returns the origins of `before`, followed by those of `after`. */
export function joined(before: Run, after: Run): Sources {
  if (isOne(before, after)) return before;
  const base = before.stacks.parent.length - 1; // the root is the same
  const moved = after.origins.map((origin) => ({
    ...origin,
    stack: origin.stack === 0 ? 0 : origin.stack + base,
  }));
  return { origins: [...before.origins, ...moved], stacks: joinedStacks(before, after) };
}

function joinedStacks({ stacks: before }: Run, { stacks: after }: Run): Stacks {
  const [base, names] = [before.parent.length - 1, before.names.length];
  const parents = after.parent.subarray(1).map((node) => (node === 0 ? 0 : node + base));
  const frames = after.frame.subarray(1).map((frame) => frame + names);
  return {
    parent: concatenated(before.parent, parents),
    frame: concatenated(before.frame, frames),
    names: withoutMovedLines(before.names, after.names).flat(),
    isUser: [...before.isUser, ...after.isUser],
  };
}

function concatenated(first: Uint32Array, second: Uint32Array): Uint32Array {
  const all = new Uint32Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Returns the joined outline by the origins of each run. */
export function sidesOf(outline: Outline, before: Run, after: Run): [Outline, Outline] {
  if (isOne(before, after)) return [outline, outline];
  const count = before.origins.length;
  const part = (from: number, to?: number): Outline => ({
    ...outline,
    leaf: outline.leaf.subarray(from, to),
    role: outline.role.subarray(from, to),
  });
  return [part(0, count), part(count)];
}
