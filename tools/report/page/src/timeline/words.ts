// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the timeline says.

import { countUntil } from "../sorted.ts";
import { formatBytes, formatCount } from "../text.ts";
import type { Usage, View } from "./usage.ts";

/** The sample that an event is in. */
export function sampleAt({ first }: Usage, event: number): number {
  return Math.max(0, countUntil((i) => first[i]!, first.length, event) - 1);
}

/** What cannot be seen by zooming in further; "" if every event can. */
export function keptWords({ card, from, to }: View): string {
  const { leastBytes, exact } = card;
  if (leastBytes === 0 || exact.some(([first, last]) => first <= from && to <= last)) return "";
  const columns = card.columns.first.filter((event) => event >= from && event <= to).length;
  return (
    `Blocks of ${formatBytes(leastBytes)} and more are drawn one by one, smaller ones as sums of ` +
    `${formatCount(Math.max(1, columns))} parts of this range; every rise of the total is there.`
  );
}
