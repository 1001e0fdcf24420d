// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds nodes by a part of their names.

import type { Outline } from "./outline.ts";
import type { Tree } from "./tree.ts";

/** For each name of the outline, true if it contains `text`, ignoring case; nothing contains "". */
export function matchingNames(outline: Outline, text: string): Uint8Array {
  const part = text.trim().toLowerCase();
  if (part === "") return new Uint8Array(outline.names.length);
  return Uint8Array.from(outline.names, (name) => (name.toLowerCase().includes(part) ? 1 : 0));
}

export interface Found {
  readonly matches: number;
  readonly bytes: number; // of all matches; a match within another counts once
  readonly isMatch: Uint8Array; // by node
  readonly isWithin: Uint8Array; // by node: a match or below one
}

export function find({ outline, bytes }: Tree, names: Uint8Array): Found {
  const isMatch = new Uint8Array(outline.count);
  const isWithin = new Uint8Array(outline.count);
  let matches = 0;
  let total = 0;
  for (let node = 0; node < outline.count; ++node) {
    if (!(bytes[node]! > 0)) continue;
    const isBelow = node > 0 && isWithin[outline.parent[node]!] === 1;
    isMatch[node] = node > 0 ? names[outline.name[node]!]! : 0;
    isWithin[node] = isBelow ? 1 : isMatch[node]!;
    matches += isMatch[node]!;
    if (isMatch[node] === 1 && !isBelow) total += bytes[node]!;
  }
  return { matches, bytes: total, isMatch, isWithin };
}
