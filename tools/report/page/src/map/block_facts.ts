// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The facts about a block, in words.

import { clauses, counted, listed, translated } from "../messages.ts";
import type { Card, Origin, Pieces, Run, Stacks } from "../model.ts";
import { evidenceWords, roleWords, siteWords } from "../names.ts";
import { positionWords, stageOf, stepsUntil } from "../position.ts";
import { countUntil } from "../sorted.ts";
import { formatBytes, formatCount, formatDuration, formatExact } from "../text.ts";

export type Fact = readonly [term: string, text: string];

export interface Frame {
  readonly name: string;
  readonly isUser: boolean;
}

const MOST_FRAMES = 100;

/** Returns the pieces of the block of piece `i`: the first one, and the one after the last. */
export function piecesOfBlock({ born, count }: Pieces, i: number): [number, number] {
  const until = countUntil((k) => born[k]!, count, born[i]!);
  return [countUntil((k) => born[k]!, count, born[i]! - 0.5), until];
}

/** Returns the first piece of the block that was born at an event; -1: none was. */
export function pieceBornAt({ born, count }: Pieces, event: number): number {
  const first = countUntil((k) => born[k]!, count, event - 0.5);
  return born[first] === event ? first : -1;
}

export const hex = (address: number): string => `0x${address.toString(16)}`;

/** `event` is the moment. */
export function factsOf(run: Run, card: Card, piece: number, event: number): Fact[] {
  const { pieces } = card;
  const origin = run.origins[pieces.origin[piece]!]!;
  const facts: Fact[] = [
    ...sizesOf(pieces, piece),
    [
      translated("Role"),
      translated("$0 ($1)", roleWords(origin.role), evidenceWords(origin.evidence)),
    ],
    [translated("Owner"), origin.owner || translated("untagged")],
    [translated("Path"), origin.path],
    [translated("Module"), origin.module],
    [translated("Site"), siteWords(origin.site)],
    [translated("Stream"), streamWords(origin)],
    [translated("Allocated"), birthWords(run, card, piece, event)],
    [translated("Freed"), freeWords(run, card, piece, event)],
  ];
  return facts.filter(([, text]) => text !== "");
}

function sizesOf(pieces: Pieces, piece: number): Fact[] {
  const [first, until] = piecesOfBlock(pieces, piece);
  const { bytes, slack, address } = pieces;
  const whole = bytes.subarray(first, until).reduce((sum, size) => sum + size, 0);
  const allocated = whole + slack[until - 1]!;
  const place: Fact = [translated("Address"), hex(address[piece]!)];
  if (until - first === 1) return [[translated("Size"), roundedWords(whole, allocated)], place];
  const part = translated(
    "$0 of $1, in a block of $2",
    formatCount(piece - first + 1),
    formatCount(until - first),
    roundedWords(whole, allocated),
  );
  return [[translated("Size"), formatExact(bytes[piece]!)], [translated("Part"), part], place];
}

function roundedWords(requested: number, allocated: number): string {
  if (allocated === requested) return formatExact(requested);
  return translated("$0; with rounding $1", formatExact(requested), formatExact(allocated));
}

function streamWords({ stream, pool }: Origin): string {
  const ofStream = stream === "0x0" ? translated("the default stream") : stream;
  const ofPool = pool === 0 ? translated("the default pool") : translated("pool $0", pool);
  return listed(ofStream, ofPool);
}

/** Returns "event 12,345 · 3.20 s · step 2, backward: 3 steps and 4.20 s old". */
function birthWords(run: Run, card: Card, piece: number, event: number): string {
  const born = card.pieces.born[piece]!;
  const place = positionWords(run, born);
  if (born > event) return translated("$0: after this moment", place);
  const steps = stepsUntil(run, event) - stepsUntil(run, born);
  const age = formatDuration(run.clock.at(event) - run.clock.at(born));
  if (steps === 0) return translated("$0: $1 old", place, age);
  return counted(
    steps,
    "$0: 1 step and $1 old",
    "$0: $2 steps and $1 old",
    place,
    age,
    formatCount(steps),
  );
}

/** Returns "free requested at event 12, step 3, backward, 1.20 s later". */
function freeWords(run: Run, card: Card, piece: number, event: number): string {
  const { letGo, gone } = card.pieces;
  const at = letGo[piece]!;
  if (at === Infinity) return translated("never freed in this trace");
  const place = listed(translated("event $0", formatCount(at)), stageOf(run, at));
  return clauses(requestWords(run, at, event, place), waitWords(at, gone[piece]!));
}

function requestWords(run: Run, at: number, event: number, place: string): string {
  if (at === event) return translated("free requested at $0, this moment", place);
  const apart = formatDuration(Math.abs(run.clock.at(at) - run.clock.at(event)));
  return at > event
    ? translated("free requested at $0, $1 later", place, apart)
    : translated("free requested at $0, $1 earlier", place, apart);
}

function waitWords(letGo: number, gone: number): string {
  if (gone === Infinity) return translated("it waits for its stream until the end of the trace");
  if (gone <= letGo) return "";
  return translated("it waits for its stream until event $0", formatCount(gone));
}

/** Returns the frames, the innermost first. */
export function framesOf({ parent, frame, names, isUser }: Stacks, stack: number): Frame[] {
  const frames: Frame[] = [];
  for (let at = stack; at > 0 && frames.length < MOST_FRAMES; at = parent[at] ?? 0) {
    const name = frame[at]!;
    frames.push({ name: names[name] ?? "?", isUser: isUser[name] ?? false });
  }
  return frames;
}

/** Returns "activations, 512.0 MiB at 0x7f0000000000, train.py:18 step". */
export function shortWords(run: Run, card: Card, piece: number): string {
  const { origin, bytes, address } = card.pieces;
  const { role, path, owner, site } = run.origins[origin[piece]!]!;
  const place = translated("$0 at $1", formatBytes(bytes[piece]!), hex(address[piece]!));
  return listed(roleWords(role), place, path || owner || siteWords(site));
}
