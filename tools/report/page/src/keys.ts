// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The colour of each piece. Colours are classes k-<name> of the style: roles have their own; other
// keys take those of a palette in the order of the timeline's keys, so that both views agree.

import { translated } from "./messages.ts";
import type { Card, GroupingName, Origin, Run } from "./model.ts";
import { roleWords, siteWords } from "./names.ts";
import type { Role } from "./vocabulary.ts";

/** The number of classes k-key_0, k-key_1, ... in page.css. */
export const PALETTE = 12;

/** Keys that have colours; the last one is all else. */
export interface Keys {
  readonly names: readonly string[];
  readonly labels: readonly string[]; // the names as they are printed
  readonly colours: readonly string[]; // of the class k-<colour>
  readonly ofOrigin: Uint16Array; // index of `names`, by index of Run.origins
}

/** Returns the key of an origin in a grouping, named as in the timeline. */
export function keyOf(origin: Origin, by: GroupingName): string {
  if (by === "owner") return origin.owner || "(none)";
  return by === "module" ? origin.group : origin[by];
}

export function keysOf(run: Run, card: Card, by: GroupingName): Keys {
  const names = by === "role" ? rolesOf(run) : largestOf(run, card, by);
  const index = new Map(names.map((name, i) => [name, i]));
  const colourOf = (name: string, i: number): string =>
    by === "role" ? roleColour(name) : `key_${i}`;
  return {
    names: [...names, "all else"],
    labels: [...names.map(by === "role" ? roleWords : siteWords), translated("all else")],
    colours: [...names.map(colourOf), "unknown"],
    ofOrigin: Uint16Array.from(
      run.origins,
      (origin) => index.get(keyOf(origin, by)) ?? names.length,
    ),
  };
}

/** A name that is not a role has the colour of the unknown. */
function roleColour(role: string): string {
  return /^[a-z_]+$/.test(role) ? role : "unknown";
}

/** From the ground up: lasting roles lie below those that come and go. Each role has its place. */
const PLACES: Readonly<Record<Role, number>> = {
  parameter: 0,
  buffer: 1,
  optimizer_state: 2,
  checkpoint: 3,
  kv_cache: 4,
  workspace: 5,
  gradient: 6,
  comm: 7,
  input: 8,
  activation: 9,
  temporary: 10,
  unknown: 11,
};
const ROLES = Object.keys(PLACES) as Role[];

function rolesOf(run: Run): string[] {
  const found = new Set(run.origins.map((origin) => keyOf(origin, "role")));
  return [...ROLES.filter((role) => found.delete(role)), ...found];
}

function largestOf(run: Run, card: Card, by: GroupingName): string[] {
  const grouping = card.groupings.find(({ name }) => name === by);
  const keys = grouping
    ? grouping.keys.map(({ name }) => name)
    : run.origins.map((origin) => keyOf(origin, by));
  return [...new Set(keys)].slice(0, PALETTE);
}
