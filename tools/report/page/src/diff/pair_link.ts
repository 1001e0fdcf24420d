// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Both states as the address of the page: page.html#a.t=1200&b.t=3400&by=owner. The letter a is
// before, b is after; a parameter without a letter applies to both.

import { beginning, stateOf, textOf } from "../link.ts";
import type { Run } from "../model.ts";
import type { State } from "../state.ts";

export type Pair<T> = readonly [before: T, after: T];

const PREFIXES = ["a.", "b."] as const;
const COMMON = ["by", "tree", "shape", "q"];

const knowsModules = ({ origins }: Run): boolean =>
  origins.some(({ path, module }) => path !== "" || module !== "");

/** Lines move between two runs, while modules stay. */
export function beginningOf(runs: Pair<Run>): Pair<State> {
  const isOne = runs[0].origins === runs[1].origins;
  const tree = !isOne && runs.every(knowsModules) ? "module" : "stack";
  return [
    { ...beginning(runs[0]), tree },
    { ...beginning(runs[1]), tree },
  ];
}

/** Leaves out values that equal the initial ones. */
export function textOfPair(states: Pair<State>, runs: Pair<Run>): string {
  const parts = new URLSearchParams();
  const first = beginningOf(runs);
  PREFIXES.forEach((prefix, i) => {
    for (const [name, value] of new URLSearchParams(textOf(states[i]!, runs[i]!, first[i])))
      parts.set(COMMON.includes(name) ? name : prefix + name, value);
  });
  return parts.toString();
}

/** Returns null if the text is the name of a section. */
export function statesOf(text: string, runs: Pair<Run>): Pair<State> | null {
  if (!text.includes("=")) return null;
  const asked = new URLSearchParams(text);
  const first = beginningOf(runs);
  const stateOfSide = (side: 0 | 1): State | null => {
    const parts = new URLSearchParams("card="); // a state, even without parameters for the side
    for (const [name, value] of asked)
      if (COMMON.includes(name)) parts.set(name, value);
      else if (name.startsWith(PREFIXES[side])) parts.set(name.slice(2), value);
    return stateOf(parts.toString(), runs[side], first[side]);
  };
  const [before, after] = [stateOfSide(0), stateOfSide(1)];
  return before && after && [before, after];
}
