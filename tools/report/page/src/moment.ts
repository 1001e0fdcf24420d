// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The pieces on a card just after an event.

import type { Card, Pieces } from "./model.ts";

/** True if piece `i` is in use. */
export function isInUse(pieces: Pieces, i: number, event: number): boolean {
  return pieces.born[i]! <= event && event < pieces.letGo[i]!;
}

/** True if its free was requested, and its memory waits for a stream. */
export function isWaiting(pieces: Pieces, i: number, event: number): boolean {
  return pieces.letGo[i]! <= event && event < pieces.gone[i]!;
}

/** Returns the number of pieces born until `event`: pieces are in the order of their births. */
export function bornUntil(pieces: Pieces, event: number): number {
  let low = 0;
  let high = pieces.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (pieces.born[middle]! <= event) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** True if every block that lives just after `event` is a piece. */
export function isExact(card: Card, event: number): boolean {
  return card.leastBytes === 0 || card.exact.some(([from, to]) => from <= event && event <= to);
}
