// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives the same names colours on both sides.

import { PALETTE } from "../keys.ts";
import type { Card, Grouping, GroupingName, Run } from "../model.ts";

/** Returns runs with the same keys in the same order on every card, so that a name has one colour. */
export function aligned(before: Run, after: Run): [Run, Run] {
  const cards = [...before.cards, ...after.cards];
  const names = {
    owner: largestOf(cards, "owner"),
    module: largestOf(cards, "module"),
    site: largestOf(cards, "site"),
  };
  const align = (run: Run): Run => ({
    ...run,
    cards: run.cards.map((card) => ({
      ...card,
      groupings: card.groupings.map((grouping) =>
        grouping.name === "role" ? grouping : withKeys(grouping, names[grouping.name]),
      ),
    })),
  });
  return [align(before), align(after)];
}

/** Returns the names of all cards, by the most bytes that each has anywhere. */
function largestOf(cards: readonly Card[], by: GroupingName): string[] {
  const most = new Map<string, number>();
  for (const { groupings } of cards)
    for (const { name, bytes } of groupings.find((of) => of.name === by)?.keys ?? [])
      most.set(name, Math.max(most.get(name) ?? 0, highest(bytes)));
  return [...most]
    .sort(([, a], [, b]) => b - a)
    .map(([name]) => name)
    .slice(0, PALETTE);
}

const highest = (bytes: Float64Array): number => bytes.reduce((a, b) => Math.max(a, b), 0);

/** Moves all keys that have none of these names to the rest. */
function withKeys(grouping: Grouping, names: readonly string[]): Grouping {
  const bytesOf = new Map(grouping.keys.map(({ name, bytes }) => [name, bytes]));
  const none = new Float64Array(grouping.rest.length);
  const keys = names.map((name) => ({ name, bytes: bytesOf.get(name) ?? none }));
  const rest = grouping.rest.slice();
  for (const { name, bytes } of grouping.keys)
    if (!names.includes(name)) bytes.forEach((value, i) => (rest[i]! += value));
  return { ...grouping, keys, rest };
}
