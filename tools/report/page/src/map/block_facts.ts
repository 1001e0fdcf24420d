// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The facts about a block, in words.

import type { Card, Origin, Pieces, Run, Stacks } from "../model.ts";
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
    ["Role", `${origin.role} (${origin.evidence})`],
    ["Owner", origin.owner || "untagged"],
    ["Path", origin.path],
    ["Module", origin.module],
    ["Site", origin.site],
    ["Stream", streamWords(origin)],
    ["Allocated", birthWords(run, card, piece, event)],
    ["Freed", freeWords(run, card, piece, event)],
  ];
  return facts.filter(([, text]) => text !== "");
}

function sizesOf(pieces: Pieces, piece: number): Fact[] {
  const [first, until] = piecesOfBlock(pieces, piece);
  const { bytes, slack, address } = pieces;
  const whole = bytes.subarray(first, until).reduce((sum, size) => sum + size, 0);
  const allocated = whole + slack[until - 1]!;
  const rounding = allocated > whole ? `; with rounding ${formatExact(allocated)}` : "";
  const size: Fact = ["Size", formatExact(bytes[piece]!) + (until - first > 1 ? "" : rounding)];
  const place: Fact = ["Address", hex(address[piece]!)];
  if (until - first === 1) return [size, place];
  const part = `${formatCount(piece - first + 1)} of ${formatCount(until - first)}`;
  return [size, ["Part", `${part} of a block of ${formatExact(whole)}${rounding}`], place];
}

function streamWords({ stream, pool }: Origin): string {
  const streamWord = stream === "0x0" ? "the default stream" : stream;
  return `${streamWord}, ${pool === 0 ? "the default pool" : `pool ${pool}`}`;
}

function birthWords(run: Run, card: Card, piece: number, event: number): string {
  const born = card.pieces.born[piece]!;
  const age = born > event ? "after this moment" : ageWords(run, born, event);
  return `${positionWords(run, born)}: ${age}`;
}

/** Returns "3 steps and 4.20 s old". */
function ageWords(run: Run, born: number, event: number): string {
  const steps = stepsUntil(run, event) - stepsUntil(run, born);
  const time = `${formatDuration(run.clock.at(event) - run.clock.at(born))} old`;
  if (steps === 0) return time;
  return `${formatCount(steps)} ${steps === 1 ? "step" : "steps"} and ${time}`;
}

/** Returns "free requested at event 12, step 3, backward, 1.20 s later". */
function freeWords(run: Run, card: Card, piece: number, event: number): string {
  const { letGo, gone } = card.pieces;
  const at = letGo[piece]!;
  if (at === Infinity) return "never freed in this trace";
  const ns = run.clock.at(at) - run.clock.at(event);
  const apart = `${formatDuration(Math.abs(ns))} ${at > event ? "later" : "before"}`;
  const when = at === event ? "this moment" : apart;
  const place = [`event ${formatCount(at)}`, stageOf(run, at), when].filter((word) => word !== "");
  return `free requested at ${place.join(", ")}${waitWords(at, gone[piece]!)}`;
}

function waitWords(letGo: number, gone: number): string {
  if (gone === Infinity) return "; it waits for its stream to the end of the trace";
  return gone > letGo ? `; it waits for its stream until event ${formatCount(gone)}` : "";
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

/** Returns "activation, 512.0 MiB at 0x7f0000000000, of train.py:18 step". */
export function shortWords(run: Run, card: Card, piece: number): string {
  const { origin, bytes, address } = card.pieces;
  const { role, path, owner, site } = run.origins[origin[piece]!]!;
  const whose = path || owner || site;
  const what = `${role}, ${formatBytes(bytes[piece]!)} at ${hex(address[piece]!)}`;
  return whose === "" ? what : `${what}, ${whose}`;
}
