// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The change of each node from one moment to another.

import { ROOT } from "../holders/outline.ts";
import type { Found } from "../holders/search.ts";
import type { Holdings, Tree } from "../holders/tree.ts";

/**
 * A node is as wide as the larger of its own bytes before and after, and all below it. So gone and
 * new memory lie beside each other, each in its own size.
 */
export interface Difference extends Tree {
  readonly before: Holdings; // of the outline
  readonly after: Holdings; // of the outline
  readonly sums: Sums;
}

/** Sums of each node's own bytes. */
export interface Sums {
  readonly grew: number;
  readonly isNew: number; // bytes of nodes that had none before
  readonly shrank: number;
  readonly isGone: number; // bytes of nodes that have none left
  readonly stayed: number;
}

/** Returns the bytes of each node without those of its children. */
function ownBytes({ outline, bytes }: Holdings): Float64Array {
  const own = bytes.slice();
  for (let node = 1; node < outline.count; ++node) own[outline.parent[node]!]! -= bytes[node]!;
  return own;
}

export function differenceOf(before: Holdings, after: Holdings): Difference {
  const { outline } = before;
  const [own, ownAfter] = [ownBytes(before), ownBytes(after)];
  const sums = { grew: 0, isNew: 0, shrank: 0, isGone: 0, stayed: 0 };
  own.forEach((was, node) => count(sums, was, ownAfter[node]!));
  const bytes = own.map((was, node) => Math.max(was, ownAfter[node]!));
  for (let node = outline.count - 1; node > ROOT; --node)
    bytes[outline.parent[node]!]! += bytes[node]!;
  return { outline, bytes, before, after, sums };
}

function count(sums: { -readonly [K in keyof Sums]: number }, was: number, is: number): void {
  sums.stayed += Math.min(was, is);
  if (is > was) sums.grew += is - was;
  else sums.shrank += was - is;
  if (was === 0) sums.isNew += is;
  if (is === 0) sums.isGone += was;
}

/** Returns the change as a share of the node's width: 1 if all is new, -1 if all is gone, 0 if even. */
export function shareOf({ bytes, before, after }: Difference, node: number): number {
  const width = bytes[node]!;
  return width > 0 ? (after.bytes[node]! - before.bytes[node]!) / width : 0;
}

/** Returns the bytes of all matches; a match within another counts once. */
export function bytesOfMatches({ before, after, outline }: Difference, found: Found): Change {
  const sum = { before: 0, after: 0 };
  found.isMatch.forEach((isMatch, node) => {
    if (isMatch === 0 || found.isWithin[outline.parent[node]!] === 1) return;
    sum.before += before.bytes[node]!;
    sum.after += after.bytes[node]!;
  });
  return sum;
}

export interface Change {
  readonly before: number; // bytes
  readonly after: number;
}

export const changeOf = ({ before, after }: Difference, node: number): Change => ({
  before: before.bytes[node]!,
  after: after.bytes[node]!,
});
