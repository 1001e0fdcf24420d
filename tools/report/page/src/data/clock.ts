// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The times of events.

import { countUntil } from "../sorted.ts";

/** Knows the time of some events, including the last one, and interpolates between them. */
export class Clock {
  private readonly events: Float64Array;
  private readonly ns: Float64Array;

  constructor(events: Float64Array, ns: Float64Array) {
    this.events = events;
    this.ns = ns;
  }

  /** Returns nanoseconds since the trace began. */
  at(event: number): number {
    const until = countUntil((i) => this.events[i]!, this.events.length, event);
    const [from, fromNs] = until === 0 ? [0, 0] : [this.events[until - 1]!, this.ns[until - 1]!];
    if (from === event || until === this.events.length) return fromNs;
    const share = (event - from) / (this.events[until]! - from);
    return fromNs + share * (this.ns[until]! - fromNs);
  }

  /** True if the time of an event is known, not interpolated. */
  knows(event: number): boolean {
    const until = countUntil((i) => this.events[i]!, this.events.length, event);
    return until > 0 && this.events[until - 1] === event;
  }
}
