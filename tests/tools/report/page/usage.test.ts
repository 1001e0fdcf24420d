// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { keysOf } from "#page/keys.ts";
import type { Card, Run } from "#page/model.ts";
import { type Usage, usageOf } from "#page/timeline/usage.ts";
import { card, columns, origin, pieces, run } from "./support/runs.ts";

const ORIGINS = [origin({ role: "parameter" }), origin({ role: "activation" })];

/** A parameter of 100 bytes from event 2 on, and an activation of 40 from 5 until 7. */
const PIECES = pieces(
  { born: 2, address: 0, bytes: 100 },
  { born: 5, address: 512, bytes: 40, letGo: 7, origin: 1 },
);

function usageIn(of: Run, from: number, to: number, samples: number): Usage {
  const first: Card = of.cards[0]!;
  return usageOf({ card: first, by: "role", keys: keysOf(of, first, "role"), from, to }, samples);
}

function runOf(traits: Partial<Card>): Run {
  return run({ events: 20, origins: ORIGINS, cards: [card({ pieces: PIECES, ...traits })] });
}

const role = (name: string, ...bytes: number[]) => ({ name, bytes: Float64Array.from(bytes) });

test("each event has a sample if there is room", () => {
  const whole = columns({ first: [1], most: [140], mostEvent: [5], least: [0] });
  const keys = [role("parameter", 100), role("activation", 40)];
  const groupings = [{ name: "role", keys, rest: Float64Array.of(0) }] as const;
  const usage = usageIn(runOf({ columns: whole, groupings }), 1, 10, 100);
  assert.deepEqual([...usage.most], [0, 100, 100, 100, 140, 140, 100, 100, 100, 100]);
  assert.deepEqual([...usage.keys[1]!], [0, 0, 0, 0, 40, 40, 0, 0, 0, 0]);
});

test("a rise between two samples is not lost", () => {
  const whole = columns({ first: [1], most: [140], mostEvent: [5], least: [0] });
  const usage = usageIn(runOf({ columns: whole }), 1, 20, 3);
  assert.equal(Math.max(...usage.most), 140);
  assert.equal(Math.min(...usage.least), 0);
});

test("unlisted blocks are the bytes of a column beyond its pieces", () => {
  const parts = columns({ first: [1, 11], most: [145, 108], mostEvent: [5, 15], least: [0, 100] });
  const keys = [role("parameter", 105, 108), role("activation", 40, 0)];
  const groupings = [{ name: "role", keys, rest: Float64Array.of(0, 0) }] as const;
  const usage = usageIn(runOf({ columns: parts, groupings, leastBytes: 32 }), 1, 20, 40);
  assert.equal(usage.most[4], 145);
  assert.equal(usage.most[19], 108);
  assert.equal(usage.keys[0]![19], 108);
});

test("a wide range shows the columns as they are", () => {
  const parts = columns({ first: [1, 11], most: [140, 100], mostEvent: [5, 15], least: [0, 100] });
  const keys = [role("parameter", 100, 100), role("activation", 30, 0)];
  const groupings = [{ name: "role", keys, rest: Float64Array.of(10, 0) }] as const;
  const usage = usageIn(runOf({ columns: parts, groupings }), 1, 20, 2);
  assert.deepEqual([...usage.first], [1, 11]);
  assert.deepEqual(
    usage.keys.map((key) => [...key]),
    [
      [100, 100],
      [30, 0],
      [10, 0],
    ],
  );
});

test("levels show the memory that no piece shows", () => {
  const parts = columns({ first: [1], most: [900], mostEvent: [12], least: [0] });
  const levels = {
    events: 4,
    least: Float64Array.of(0, 100, 100, 100, 100),
    most: Float64Array.of(100, 140, 900, 100, 100),
  };
  const usage = usageIn(runOf({ columns: parts, levels, leastBytes: 32 }), 1, 20, 4);
  assert.equal(Math.max(...usage.most), 900);
});
