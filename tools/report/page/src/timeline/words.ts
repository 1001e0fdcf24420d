// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of the timeline.

import { countUntil } from "../sorted.ts";
import { formatBytes, formatCount } from "../text.ts";
import type { Usage, View } from "./usage.ts";

/** Returns the sample of an event. */
export function sampleAt({ first }: Usage, event: number): number {
  return Math.max(0, countUntil((i) => first[i]!, first.length, event) - 1);
}

/** Says what zooming in cannot show; "" if every event can be seen. */
export function keptWords({ card, from, to }: View): string {
  const { leastBytes, exact } = card;
  if (leastBytes === 0 || exact.some(([first, last]) => first <= from && to <= last)) return "";
  const columns = card.columns.first.filter((event) => event >= from && event <= to).length;
  return (
    `Blocks of ${formatBytes(leastBytes)} and more are drawn one by one, smaller ones as sums of ` +
    `${formatCount(Math.max(1, columns))} parts of this range; every rise of the total is there.`
  );
}
