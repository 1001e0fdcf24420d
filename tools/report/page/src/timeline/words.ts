// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of the timeline.

import { counted } from "../messages.ts";
import { countUntil } from "../sorted.ts";
import { formatBytes, formatCount } from "../text.ts";
import type { Usage, View } from "./usage.ts";

/** Returns the sample of an event. */
export function sampleAt({ first }: Usage, event: number): number {
  return Math.max(0, countUntil((i) => first[i]!, first.length, event) - 1);
}

/** Describes what zooming in cannot show; "" if every event can be seen. */
export function keptWords({ card, from, to }: View): string {
  const { leastBytes, exact } = card;
  if (leastBytes === 0 || exact.some(([first, last]) => first <= from && to <= last)) return "";
  const columns = card.columns.first.filter((event) => event >= from && event <= to).length;
  return counted(
    Math.max(1, columns),
    "Blocks of $0 or more are drawn one by one. Smaller ones are drawn as one sum over this range. " +
      "Every rise of the total is shown.",
    "Blocks of $0 or more are drawn one by one. Smaller ones are drawn as sums over $1 parts of " +
      "this range. Every rise of the total is shown.",
    formatBytes(leastBytes),
    formatCount(Math.max(1, columns)),
  );
}
