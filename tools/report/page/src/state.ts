// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The state that all views share. The address of the page is its text.

import type { GroupingName } from "./model.ts";

export interface State {
  readonly card: number; // index of Run.cards
  readonly event: number; // the moment: after this event
  readonly from: number; // the timeline's range of events
  readonly to: number;
  readonly by: GroupingName; // colours of timeline and map
  readonly tree: "stack" | "module"; // the tree of the flame graph
  readonly shape: "flame" | "treemap";
  readonly search: string;
  readonly block: number; // the event at which the chosen block was born; 0: none
}

export type Listener = (state: State, before: State) => void;

/** Holds the state, and tells the views when it changes. */
export class Store {
  private current: State;
  private readonly listeners: Listener[] = [];

  constructor(initial: State) {
    this.current = initial;
  }

  get state(): State {
    return this.current;
  }

  /** Notifies views in the order in which they were added, once for each change. */
  set(change: Partial<State>): void {
    const before = this.current;
    const after = { ...before, ...change };
    const keys = Object.keys(after) as (keyof State)[];
    if (keys.every((key) => after[key] === before[key])) return;
    this.current = after;
    for (const listener of this.listeners) listener(after, before);
  }

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }
}
