// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes of small blocks that are not pieces.

import { isExact, isInUse } from "../moment.ts";
import type { Run } from "../model.ts";
import { columnOf } from "./usage.ts";

/** Returns them for a card, by its index in the run, at the most of the event's column. */
export function missingAt(run: Run, index: number, event: number): number {
  const card = run.cards[index]!;
  if (isExact(card, event)) return 0;
  const column = columnOf(card, event);
  const { pieces } = card;
  let listed = 0;
  for (let i = 0; i < pieces.count; ++i)
    if (isInUse(pieces, i, card.columns.mostEvent[column]!)) listed += pieces.bytes[i]!;
  return Math.max(0, card.columns.most[column]! - listed);
}
