// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Converts the page's data to the form that the views need.

import { translated } from "../messages.ts";
import type { Card, Failure, Grouping, Origin, Pieces, Ranges, Run, Stacks } from "../model.ts";
import { Clock } from "./clock.ts";
import { ends, summed } from "./columns.ts";
import type {
  CardText,
  FailuresText,
  OriginsText,
  PageText,
  PiecesText,
  RangesText,
} from "./schema.ts";

export const SCHEMA = "memtrace.page/1";

/** Throws an Error with a sentence if the data have another version. */
export function decode(text: PageText): Run {
  if (text.schema !== SCHEMA)
    throw new Error(translated("the data have version $0 in place of $1", text.schema, SCHEMA));
  const name = (i: number): string => text.texts[i] ?? "";
  const stacks = stacksOf(text);
  const clock = new Clock(summed(text.clock.event), summed(text.clock.us, 1000));
  const stepEvents = summed(text.steps.event);
  const stepNumbers = summed(text.steps.number);
  const phaseEvents = summed(text.phases.event);
  return {
    file: text.file,
    events: text.events,
    lastNs: text.last_ns,
    clock,
    steps: Array.from(stepEvents, (event, i) => ({ event, number: stepNumbers[i]! })),
    phases: Array.from(phaseEvents, (event, i) => ({ event, name: name(text.phases.name[i]!) })),
    origins: originsOf(text.origins, name),
    stacks,
    cards: text.cards.map((card) => cardOf(card, name, stacks)),
    told: text.told,
    after: text.after,
  };
}

function stacksOf({ stacks }: PageText): Stacks {
  return {
    parent: Uint32Array.from(stacks.parent),
    frame: Uint32Array.from(stacks.frame),
    names: stacks.names,
    isUser: stacks.user.map(Boolean),
  };
}

type Named = (i: number) => string;

function originsOf(text: OriginsText, name: Named): Origin[] {
  return text.role.map((role, i) => ({
    role: name(role),
    evidence: name(text.evidence[i]!),
    owner: name(text.owner[i]!),
    path: name(text.path[i]!),
    module: name(text.module[i]!),
    group: name(text.group[i]!),
    site: name(text.site[i]!),
    phase: name(text.phase[i]!),
    stack: text.stack[i]!,
    stream: name(text.stream[i]!),
    pool: text.pool[i]!,
  }));
}

function cardOf(text: CardText, name: Named, stacks: Stacks): Card {
  const { columns, levels } = text;
  return {
    index: text.index,
    bytes: text.bytes,
    columns: {
      count: columns.first.length,
      first: summed(columns.first),
      least: summed(columns.least),
      most: summed(columns.most),
      mostEvent: summed(columns.most_event),
      reserved: summed(columns.reserved),
    },
    levels: { events: levels.events, least: summed(levels.least), most: summed(levels.most) },
    groupings: text.groupings.map((grouping) => groupingOf(grouping, name)),
    pieces: piecesOf(text.pieces),
    leastBytes: text.least_bytes,
    exact: text.exact,
    mapped: rangesOf(text.mapped),
    reserved: rangesOf(text.reserved),
    failures: failuresOf(text.failures, stacks),
    peak: text.peak,
  };
}

function groupingOf({ name, keys, rest }: CardText["groupings"][number], named: Named): Grouping {
  return {
    name,
    keys: keys.map((key) => ({ name: named(key.name), bytes: summed(key.bytes) })),
    rest: summed(rest),
  };
}

function piecesOf(text: PiecesText): Pieces {
  const born = summed(text.born);
  const letGo = ends(born, text.let_go);
  return {
    count: born.length,
    born,
    letGo,
    gone: letGo.map((event, i) => (text.gone[i] ? event + text.gone[i]! - 1 : Infinity)),
    address: summed(text.address),
    bytes: Float64Array.from(text.bytes),
    slack: Float64Array.from(text.slack),
    origin: Uint32Array.from(text.origin),
  };
}

function rangesOf(text: RangesText): Ranges {
  const from = summed(text.from);
  return {
    count: from.length,
    address: summed(text.address),
    bytes: Float64Array.from(text.bytes),
    from,
    until: ends(from, text.until),
  };
}

function failuresOf(text: FailuresText, stacks: Stacks): Failure[] {
  const events = summed(text.event);
  return Array.from(events, (event, i) => ({
    event,
    requested: text.requested[i]!,
    allocated: text.allocated[i]!,
    obtainable: text.obtainable[i]!,
    site: siteOf(text.stack[i]!, stacks),
    stack: text.stack[i]!,
  }));
}

/** Returns the innermost frame of the user's own code, else the innermost; "" without a stack. */
function siteOf(stack: number, stacks: Stacks): string {
  for (let node = stack; node !== 0; node = stacks.parent[node]!) {
    const frame = stacks.frame[node]!;
    if (stacks.isUser[frame]) return stacks.names[frame]!;
  }
  return stack === 0 ? "" : stacks.names[stacks.frame[stack]!]!;
}
