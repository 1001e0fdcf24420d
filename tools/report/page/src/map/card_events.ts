// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The events at which a card's map changes.

import type { Card } from "../model.ts";
import { countUntil } from "../sorted.ts";

/** Returns the events in rising order, each once. */
export function eventsOf({ pieces, mapped, failures }: Card): Float64Array {
  const columns = [pieces.born, pieces.letGo, pieces.gone, mapped.from, mapped.until];
  const all = new Float64Array(
    columns.reduce((sum, column) => sum + column.length, failures.length),
  );
  let end = 0;
  for (const column of columns) {
    all.set(column, end);
    end += column.length;
  }
  for (const { event } of failures) all[end++] = event;
  all.sort();
  return all.filter((event, i) => event !== all[i - 1] && Number.isFinite(event));
}

/** Returns the nearest of `events` after (1) or before (-1) `event`; undefined: there is none. */
export function neighbourOf(events: Float64Array, event: number, step: 1 | -1): number | undefined {
  const at = (i: number): number => events[i]!;
  const until = countUntil(at, events.length, event);
  if (step > 0) return events[until];
  return events[until - (events[until - 1] === event ? 2 : 1)];
}
