// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The data that the views draw: the page's data (docs/reference/page.md), decoded. Bytes, nanoseconds since
// the trace began, and events by their ordinal in the trace, from 1. Nothing changes after
// decoding.

import type { Clock } from "./data/clock.ts";

/** The source of bytes, shared by all pieces with the same history. */
export interface Origin {
  readonly role: string; // "optimizer_state"
  readonly evidence: string; // for the role: "stated", "inferred", "guessed" or "unknown"
  readonly owner: string; // tags joined by '/'; "" is untagged
  readonly path: string; // of a parameter and tensors that belong to it; else ""
  readonly module: string; // the module whose forward was running; else ""
  readonly group: string; // path or module with '*' for layers; "(no module)"
  readonly site: string; // the user's line, "train.py:18"; "(in backward)" without a stack
  readonly phase: string; // the phase in which it was allocated
  readonly stack: number; // an index of Stacks; 0: none was taken
  readonly stream: string; // the handle, "0x0" is the default stream
  readonly pool: number; // 0 is the default pool
}

/**
 * Ranges of blocks that are one thing each: most blocks are one piece, flat buffers are several.
 * Columns of equal length, by birth; pieces of one block have one `born` and follow each other by
 * address. A block is in use from `born` until `letGo`, and others can have its memory from `gone`.
 */
export interface Pieces {
  readonly count: number;
  readonly born: Float64Array; // event
  readonly letGo: Float64Array; // event of the free's request; Infinity: never in this trace
  readonly gone: Float64Array; // event of its completion; Infinity: never
  readonly address: Float64Array;
  readonly bytes: Float64Array; // requested
  readonly slack: Float64Array; // allocated beyond the request; in a block's last piece
  readonly origin: Uint32Array; // index of Run.origins
}

/** Neighbouring events as one column of the timeline. Columns are not equally wide. */
export interface Columns {
  readonly count: number;
  readonly first: Float64Array; // event
  readonly least: Float64Array; // bytes in use
  readonly most: Float64Array;
  readonly mostEvent: Float64Array; // the event with the most bytes
  readonly reserved: Float64Array; // the most mapped; 0 if the trace does not say
}

/** The least and most bytes in use within equal numbers of events; empty if all blocks are pieces. */
export interface Levels {
  readonly events: number; // of each, from event 1
  readonly least: Float64Array;
  readonly most: Float64Array;
}

/** One way to split bytes. The keys' bytes at a column's most sum to it. */
export interface Grouping {
  readonly name: GroupingName;
  readonly keys: readonly { readonly name: string; readonly bytes: Float64Array }[]; // by column
  readonly rest: Float64Array; // of all smaller keys
}
export type GroupingName = "role" | "owner" | "module" | "site";

/** Ranges of addresses that had memory, or were reserved, from one event until another. */
export interface Ranges {
  readonly count: number;
  readonly address: Float64Array;
  readonly bytes: Float64Array;
  readonly from: Float64Array; // event
  readonly until: Float64Array; // event; Infinity: to the end
}

export interface Failure {
  readonly event: number;
  readonly requested: number; // bytes requested
  readonly allocated: number; // ... after rounding
  readonly obtainable: number; // the largest request that could have been served
  readonly site: string;
  readonly stack: number;
}

export interface Card {
  readonly index: number;
  readonly bytes: number | null; // of the whole card, if known
  readonly columns: Columns;
  readonly levels: Levels;
  readonly groupings: readonly Grouping[];
  readonly pieces: Pieces;
  /** Smaller blocks are pieces only if they touch one of `exact`; 0: every block is a piece. */
  readonly leastBytes: number;
  readonly exact: readonly (readonly [number, number])[]; // events, both ends included
  readonly mapped: Ranges;
  readonly reserved: Ranges; // address space; empty unless segments are expandable
  readonly failures: readonly Failure[];
  readonly peak: { readonly event: number; readonly bytes: number };
}

/** Frames as a tree from the outermost: node i is `frame[i]` called from node `parent[i]`. */
export interface Stacks {
  readonly parent: Uint32Array; // 0 is the root, which is not a frame
  readonly frame: Uint32Array; // index of `names`
  readonly names: readonly string[]; // "train.py:18 step"
  readonly isUser: readonly boolean[]; // by name: the user's own code
}

export interface Told {
  readonly card: number; // index of Run.cards
  readonly event: number;
}

export interface Run {
  readonly file: string;
  readonly events: number;
  readonly lastNs: number;
  readonly clock: Clock;
  readonly steps: readonly { readonly event: number; readonly number: number }[];
  readonly phases: readonly { readonly event: number; readonly name: string }[]; // that begins
  readonly origins: readonly Origin[];
  readonly stacks: Stacks;
  readonly cards: readonly Card[];
  /** The moment that the words of the page are about. */
  readonly told: Told;
  /** ... and the moment that they compare it with, if it is in the same run. */
  readonly after: Told | null;
}
