// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranges of events that are looked at.

export interface Range {
  readonly from: number; // events, both ends included, from 1
  readonly to: number;
}

/** Fewer events than this are not drawn alone. */
const LEAST = 10;

/** Of the same width where that is possible, within the run. */
export function clamped({ from, to }: Range, events: number): Range {
  const width = Math.min(Math.max(Math.round(to) - Math.round(from) + 1, LEAST), events);
  const begin = Math.min(Math.max(1, Math.round(from)), events - width + 1);
  return { from: begin, to: begin + width - 1 };
}

/** Wider by `factor`; `centre` stays where it is on the screen. */
export function zoomed(range: Range, centre: number, factor: number, events: number): Range {
  const at = Math.min(Math.max(centre, range.from), range.to);
  return clamped(
    { from: at - (at - range.from) * factor, to: at + (range.to - at) * factor },
    events,
  );
}

/** Moved so that an event is seen; the same if it is already. */
export function showing(range: Range, event: number, events: number): Range {
  if (range.from <= event && event <= range.to) return range;
  const half = (range.to - range.from) / 2;
  return clamped({ from: event - half, to: event + half }, events);
}
