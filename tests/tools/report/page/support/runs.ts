// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Small runs written by hand.

import { Clock } from "#page/data/clock.ts";
import type { Card, Columns, Failure, Origin, Pieces, Ranges, Run, Stacks } from "#page/model.ts";

export const KIB = 2 ** 10;
export const MIB = 2 ** 20;
export const GIB = 2 ** 30;

export interface PieceText {
  readonly born: number;
  readonly address: number;
  readonly bytes: number;
  readonly letGo?: number;
  readonly gone?: number; // like letGo
  readonly slack?: number;
  readonly origin?: number;
}

/** An event is a millisecond. */
export const NS_OF_EVENT = 1e6;

export function pieces(...texts: readonly PieceText[]): Pieces {
  const column = (of: (text: PieceText) => number): Float64Array => Float64Array.from(texts, of);
  const letGo = (text: PieceText): number => text.letGo ?? Infinity;
  return {
    count: texts.length,
    born: column((text) => text.born),
    letGo: column(letGo),
    gone: column((text) => text.gone ?? letGo(text)),
    address: column((text) => text.address),
    bytes: column((text) => text.bytes),
    slack: column((text) => text.slack ?? 0),
    origin: Uint32Array.from(texts, (text) => text.origin ?? 0),
  };
}

export type RangeText = readonly [address: number, bytes: number, from?: number, until?: number];

export function ranges(...texts: readonly RangeText[]): Ranges {
  return {
    count: texts.length,
    address: Float64Array.from(texts, ([address]) => address),
    bytes: Float64Array.from(texts, ([, bytes]) => bytes),
    from: Float64Array.from(texts, ([, , from]) => from ?? 1),
    until: Float64Array.from(texts, ([, , , until]) => until ?? Infinity),
  };
}

export function origin(traits: Partial<Origin> = {}): Origin {
  return {
    role: "activation",
    evidence: "stated",
    owner: "",
    path: "",
    module: "",
    group: "(no module)",
    site: "",
    phase: "forward",
    stack: 0,
    stream: "0x0",
    pool: 0,
    ...traits,
  };
}

export function failure(traits: Partial<Failure> & { readonly event: number }): Failure {
  const requested = traits.requested ?? GIB;
  return {
    requested,
    allocated: requested,
    obtainable: 0,
    site: "",
    stack: 0,
    ...traits,
  };
}

const NO_COLUMNS = {
  count: 0,
  first: new Float64Array(),
  least: new Float64Array(),
  most: new Float64Array(),
  mostEvent: new Float64Array(),
  reserved: new Float64Array(),
};

/** Returns columns of a timeline; missing ones are 0. */
export function columns(
  of: Partial<Record<Exclude<keyof Columns, "count">, readonly number[]>> & {
    readonly first: readonly number[];
  },
): Columns {
  const column = (values?: readonly number[]): Float64Array =>
    values ? Float64Array.from(values) : new Float64Array(of.first.length);
  return {
    count: of.first.length,
    first: column(of.first),
    least: column(of.least),
    most: column(of.most),
    mostEvent: column(of.mostEvent),
    reserved: column(of.reserved),
  };
}

export function card(traits: Partial<Card> = {}): Card {
  return {
    index: 0,
    bytes: null,
    columns: NO_COLUMNS,
    levels: { events: 1, least: new Float64Array(), most: new Float64Array() },
    groupings: [],
    pieces: pieces(),
    leastBytes: 0,
    exact: [],
    mapped: ranges(),
    reserved: ranges(),
    failures: [],
    peak: { event: 1, bytes: 0 },
    ...traits,
  };
}

/** Makes stacks of frames: [index of the caller's line, from 1; 0: none, text, true if it is the user's]. */
export function stacks(
  ...frames: readonly (readonly [parent: number, name: string, isUser?: boolean])[]
): Stacks {
  return {
    parent: Uint32Array.from([0, ...frames.map(([parent]) => parent)]),
    frame: Uint32Array.from([0, ...frames.map((_, i) => i)]),
    names: frames.map(([, name]) => name),
    isUser: frames.map(([, , isUser]) => isUser ?? false),
  };
}

export function run(traits: Partial<Run> = {}): Run {
  return {
    file: "synthetic.trace",
    events: 100,
    lastNs: 100 * NS_OF_EVENT,
    clock: new Clock(Float64Array.of(1, 1000), Float64Array.of(NS_OF_EVENT, 1000 * NS_OF_EVENT)),
    steps: [],
    phases: [],
    origins: [origin()],
    stacks: stacks(),
    cards: [card()],
    told: { card: 0, event: 1 },
    after: null,
    ...traits,
  };
}
