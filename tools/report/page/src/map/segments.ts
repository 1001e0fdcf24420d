// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The parts of a card's address space that ever had memory. They are the same at every moment, so
// that a block stays in its place on the map while time moves.

import type { Card } from "../model.ts";
import { type Lifetimes, lifetimesOfRanges } from "./lifetimes.ts";

export type SegmentKind =
  | "reserved" // address space that grows: its neighbouring mappings form one range
  | "mapped" // from the driver in one piece: neighbours are never joined
  | "guessed"; // from the addresses of blocks outside all ranges

export interface Segment {
  readonly start: number; // address
  readonly end: number;
  readonly kind: SegmentKind;
}

/** Blocks in no known range form one segment unless at least this many bytes lie between them. */
export const GUESSED_GAP = 32 * 2 ** 20;

interface Stretch {
  readonly start: number;
  end: number;
}

/** Joins ranges at most `gap` bytes apart (-1: only overlapping ones), if their `side` is the same. */
function merged(
  all: Lifetimes,
  gap: number,
  takes: (k: number) => boolean,
  side: (k: number) => number = () => 0,
): Stretch[] {
  const stretches: Stretch[] = [];
  let before = 0;
  for (let k = 0; k < all.count; ++k) {
    if (!takes(k)) continue;
    const last = stretches.at(-1);
    if (last && side(k) === before && all.start[k]! - last.end <= gap)
      last.end = Math.max(last.end, all.end[k]!);
    else stretches.push({ start: all.start[k]!, end: all.end[k]! });
    before = side(k);
  }
  return stretches;
}

/** Returns the number of `stretches` that begin at or before each of `addresses`; both ascend. */
function begunUntil(stretches: readonly Stretch[], addresses: Float64Array): Int32Array {
  let begun = 0;
  return Int32Array.from(addresses, (address) => {
    while (begun < stretches.length && stretches[begun]!.start <= address) ++begun;
    return begun;
  });
}

/** Returns the part of each reservation from the first to the last byte that ever had memory. */
function usedParts(
  reservations: readonly Stretch[],
  mapped: Lifetimes,
  home: Int32Array,
): Stretch[] {
  const parts: (Stretch | undefined)[] = reservations.map(() => undefined);
  for (let k = 0; k < mapped.count; ++k) {
    if (home[k]! < 0) continue;
    const part = (parts[home[k]!] ??= { start: mapped.start[k]!, end: mapped.end[k]! });
    part.end = Math.max(part.end, mapped.end[k]!);
  }
  return parts.filter((part) => part !== undefined);
}

/** Guesses segments from blocks that lie in none of `known`. */
function guessedFrom(pieces: Lifetimes, known: readonly Stretch[]): Stretch[] {
  const begun = begunUntil(known, pieces.start);
  const isOrphan = (k: number): boolean =>
    begun[k] === 0 || known[begun[k]! - 1]!.end <= pieces.start[k]!;
  const guessed = merged(pieces, GUESSED_GAP, isOrphan, (k) => begun[k]!);
  const next = begunUntil(
    known,
    Float64Array.from(guessed, ({ start }) => start),
  );
  return guessed.map(({ start, end }, i) => ({
    start,
    end: Math.min(end, known[next[i]!]?.start ?? Infinity),
  }));
}

/** `pieces` are the card's. The segments do not overlap and are sorted by address. */
export function segmentsOf(card: Card, pieces: Lifetimes): Segment[] {
  const mapped = lifetimesOfRanges(card.mapped);
  const reservations = merged(lifetimesOfRanges(card.reserved), -1, () => true);
  const begun = begunUntil(reservations, mapped.start);
  const home = begun.map((n, k) =>
    n > 0 && reservations[n - 1]!.end > mapped.start[k]! ? n - 1 : -1,
  );
  const known = [
    ...ofKind("reserved", usedParts(reservations, mapped, home)),
    ...ofKind(
      "mapped",
      merged(mapped, -1, (k) => home[k]! < 0),
    ),
  ].sort(byStart);
  return known.concat(ofKind("guessed", guessedFrom(pieces, known))).sort(byStart);
}

const byStart = (a: Stretch, b: Stretch): number => a.start - b.start;

function ofKind(kind: SegmentKind, stretches: readonly Stretch[]): Segment[] {
  return stretches.map(({ start, end }) => ({ start, end, kind }));
}

export function areGuessed(segments: readonly Segment[]): boolean {
  return segments.some(({ kind }) => kind === "guessed");
}
