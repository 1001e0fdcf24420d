// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Which colour each piece has. Colours are classes k-<name> of the style: roles have their own; all
// else takes those of a palette in the order of the timeline's keys, so that both views agree.

import type { Card, GroupingName, Origin, Run } from "./model.ts";

/** How many classes k-key_0, k-key_1, ... page.css has. */
export const PALETTE = 12;

/** Keys that have colours, and last "all else". */
export interface Keys {
  readonly names: readonly string[];
  readonly colours: readonly string[]; // of the class k-<colour>
  readonly ofOrigin: Uint16Array; // index of `names`, by index of Run.origins
}

const NAMELESS = {
  role: "unknown",
  owner: "untagged",
  module: "outside of modules",
  site: "unknown",
} as const;

/** What a grouping tells origins apart by. */
export function keyOf(origin: Origin, by: GroupingName): string {
  return origin[by] || NAMELESS[by];
}

export function keysOf(run: Run, card: Card, by: GroupingName): Keys {
  const names = by === "role" ? rolesOf(run) : largestOf(run, card, by);
  const index = new Map(names.map((name, i) => [name, i]));
  const colourOf = (name: string, i: number): string =>
    by === "role" ? roleColour(name) : `key_${i}`;
  return {
    names: [...names, "all else"],
    colours: [...names.map(colourOf), "unknown"],
    ofOrigin: Uint16Array.from(run.origins, (origin) =>
      indexOf(index, keyOf(origin, by), names.length),
    ),
  };
}

/** What is no role has the colour of the unknown. */
function roleColour(role: string): string {
  return /^[a-z_]+$/.test(role) ? role : "unknown";
}

function rolesOf(run: Run): string[] {
  return [...new Set(run.origins.map((origin) => keyOf(origin, "role")))];
}

function largestOf(run: Run, card: Card, by: GroupingName): string[] {
  const grouping = card.groupings.find(({ name }) => name === by);
  const keys = grouping
    ? grouping.keys.map(({ name }) => name || NAMELESS[by])
    : run.origins.map((origin) => keyOf(origin, by));
  return [...new Set(keys)].slice(0, PALETTE);
}

/** A key's own colour, or that of the next key above it: "a/b" is in "a". */
function indexOf(index: ReadonlyMap<string, number>, key: string, rest: number): number {
  for (let part = key; ;) {
    const found = index.get(part);
    if (found !== undefined) return found;
    const cut = Math.max(part.lastIndexOf("/"), part.lastIndexOf("."));
    if (cut <= 0) return rest;
    part = part.slice(0, cut);
  }
}
