// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Visible ranges of events.

export interface Range {
  readonly from: number; // events, both ends included, from 1
  readonly to: number;
}

/** The fewest events that are drawn. */
const LEAST = 10;

/** Returns a range within the run, of the same width if possible. */
export function clamped({ from, to }: Range, events: number): Range {
  const width = Math.min(Math.max(Math.round(to) - Math.round(from) + 1, LEAST), events);
  const begin = Math.min(Math.max(1, Math.round(from)), events - width + 1);
  return { from: begin, to: begin + width - 1 };
}

/** Returns a range wider by `factor`; `centre` keeps its place on the screen. */
export function zoomed(range: Range, centre: number, factor: number, events: number): Range {
  const at = Math.min(Math.max(centre, range.from), range.to);
  return clamped(
    { from: at - (at - range.from) * factor, to: at + (range.to - at) * factor },
    events,
  );
}

/** Returns a range moved so that the event is visible; the same if it already is. */
export function showing(range: Range, event: number, events: number): Range {
  if (range.from <= event && event <= range.to) return range;
  const half = (range.to - range.from) / 2;
  return clamped({ from: event - half, to: event + half }, events);
}
