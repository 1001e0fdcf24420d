// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A card's memory over a range of events, in as many samples as there is room for. No rise is lost:
// each sample covers several events and shows the one with most bytes.

import type { Keys } from "../keys.ts";
import type { Card, GroupingName } from "../model.ts";
import { isExact } from "../moment.ts";
import { countUntil } from "../sorted.ts";
import { Sweep } from "./sweep.ts";

/** Samples by rising event; a sample holds until the next one begins. */
export interface Usage {
  readonly first: Float64Array; // event
  readonly most: Float64Array; // bytes in use, of all blocks
  readonly least: Float64Array;
  readonly reserved: Float64Array; // the most mapped
  readonly keys: readonly Float64Array[]; // by index of Keys.names, at the most
}

export interface View {
  readonly card: Card;
  readonly by: GroupingName;
  readonly keys: Keys;
  readonly from: number; // events, both ends included
  readonly to: number;
}

function emptyUsage(samples: number, keys: number): Usage {
  const column = (): Float64Array => new Float64Array(samples);
  return {
    first: column(),
    most: column(),
    least: column(),
    reserved: column(),
    keys: Array.from({ length: keys }, column),
  };
}

/** Returns the column of an event. */
export function columnOf(card: Card, event: number): number {
  const { first, count } = card.columns;
  return Math.max(0, countUntil((i) => first[i]!, count, event) - 1);
}

/** Writes the bytes of a column's keys into `into`, by index of Keys.names. */
export function keysOfColumn(view: View, column: number, into: Float64Array): void {
  const grouping = view.card.groupings.find(({ name }) => name === view.by);
  into.fill(0);
  if (!grouping) return;
  const rest = view.keys.names.length - 1;
  into[rest]! += grouping.rest[column]!;
  for (const key of grouping.keys) {
    const index = view.keys.names.indexOf(key.name);
    into[index < 0 ? rest : index]! += key.bytes[column]!;
  }
}

/** Returns about `samples` samples. */
export function usageOf(view: View, samples: number): Usage {
  const begin = columnOf(view.card, view.from);
  const end = columnOf(view.card, view.to) + 1;
  const hasPieces = view.card.pieces.count > 0;
  return end - begin >= samples / 2 || !hasPieces
    ? usageOfColumns(view, begin, end)
    : usageOfPieces(view, begin, end, samples);
}

function usageOfColumns(view: View, begin: number, end: number): Usage {
  const { columns } = view.card;
  const usage = emptyUsage(end - begin, view.keys.names.length);
  const held = new Float64Array(view.keys.names.length);
  for (let column = begin; column < end; ++column) {
    const at = column - begin;
    usage.first[at] = Math.max(columns.first[column]!, view.from);
    usage.most[at] = columns.most[column]!;
    usage.least[at] = columns.least[column]!;
    usage.reserved[at] = columns.reserved[column]!;
    keysOfColumn(view, column, held);
    usage.keys.forEach((key, i) => (key[at] = held[i]!));
  }
  return usage;
}

function usageOfPieces(view: View, begin: number, end: number, samples: number): Usage {
  const { columns } = view.card;
  const until = end < columns.count ? columns.first[end]! - 1 : Infinity;
  const sweep = new Sweep(view.card, view.keys, columns.first[begin]!, until);
  const small = smallBlocks(view, sweep, begin, end);
  const width = Math.max(1, (view.to - view.from + 1) / samples);
  const count = Math.ceil((view.to - view.from + 1) / width);
  const usage = emptyUsage(count, view.keys.names.length);
  sweep.rewind();
  let column = begin;
  for (let at = 0; at < count; ++at) {
    const first = Math.round(view.from + at * width);
    const last = Math.max(first, Math.round(view.from + (at + 1) * width) - 1);
    while (column + 1 < end && columns.first[column + 1]! <= first) ++column;
    usage.first[at] = first;
    usage.reserved[at] = columns.reserved[column]!;
    sample(sweep, small[column - begin]!, first, last, usage, at);
    widen(view.card, first, last, usage, at);
  }
  return usage;
}

/** Returns for each column, by key, the bytes that are not pieces. They are assumed to stay over the column. */
function smallBlocks(view: View, sweep: Sweep, begin: number, end: number): Float64Array[] {
  return Array.from({ length: end - begin }, (_, i) => {
    const small = new Float64Array(view.keys.names.length);
    keysOfColumn(view, begin + i, small);
    sweep.advance(view.card.columns.mostEvent[begin + i]!);
    return small.map((bytes, key) => Math.max(0, bytes - sweep.held[key]!));
  });
}

const sum = (values: Float64Array): number => values.reduce((all, value) => all + value, 0);

function sample(
  sweep: Sweep,
  small: Float64Array,
  first: number,
  last: number,
  usage: Usage,
  at: number,
): void {
  const more = sum(small);
  sweep.advance(first);
  let most = -1;
  let least = Infinity;
  for (;;) {
    const total = sweep.total + more;
    least = Math.min(least, total);
    if (total > most) {
      most = total;
      usage.keys.forEach((key, i) => (key[at] = sweep.held[i]! + small[i]!));
    }
    if (sweep.next > last) break;
    sweep.advance(sweep.next);
  }
  usage.most[at] = most;
  usage.least[at] = least;
}

/** Widens a sample by the levels that touch it, which count all blocks, if pieces lack some. */
function widen(card: Card, first: number, last: number, usage: Usage, at: number): void {
  const { events, least, most } = card.levels;
  if (most.length === 0 || isExact(card, first)) return;
  const end = Math.min(most.length, Math.floor((last - 1) / events) + 1);
  for (let level = Math.floor((first - 1) / events); level < end; ++level) {
    usage.most[at] = Math.max(usage.most[at]!, most[level]!);
    usage.least[at] = Math.min(usage.least[at]!, least[level]!);
  }
}
