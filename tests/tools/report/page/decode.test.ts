// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, SCHEMA } from "#page/data/decode.ts";
import type { PageText } from "#page/data/schema.ts";

const RANGES = { address: [4096], bytes: [100], from: [3], until: [0] };

const PAGE: PageText = {
  schema: SCHEMA,
  file: "run.trace",
  events: 9,
  last_ns: 9000,
  told: { card: 0, event: 9 },
  after: null,
  clock: { event: [1, 8], us: [1, 8] },
  steps: { event: [2, 3], number: [1, 1] },
  phases: { event: [4], name: [1] },
  cards: [
    {
      index: 0,
      bytes: null,
      columns: {
        first: [1, 4],
        least: [0, 5],
        most: [9, -2],
        most_event: [2, 3],
        reserved: [0, 0],
      },
      levels: { events: 1, least: [], most: [] },
      groupings: [{ name: "role", keys: [{ name: 2, bytes: [9, -2] }], rest: [0, 0] }],
      least_bytes: 0,
      exact: [[1, 9]],
      pieces: {
        born: [2, 3],
        let_go: [4, 0],
        gone: [2, 0],
        address: [4096, -512],
        bytes: [7, 8],
        slack: [1, 0],
        origin: [0, 0],
      },
      mapped: RANGES,
      reserved: RANGES,
      failures: { event: [7], requested: [5], allocated: [512], obtainable: [4], stack: [2] },
      peak: { event: 2, bytes: 9 },
    },
  ],
  origins: {
    role: [2],
    evidence: [0],
    owner: [0],
    path: [0],
    module: [0],
    group: [0],
    site: [0],
    phase: [1],
    stack: [2],
    stream: [0],
    pool: [0],
  },
  stacks: {
    names: ["train.py:3 step", "adam.py:9 step"],
    parent: [0, 0, 1],
    frame: [0, 0, 1],
    user: [1, 0],
  },
  texts: ["", "backward", "parameter"],
};

test("differences become values, and distances ends", () => {
  const [card] = decode(PAGE).cards;
  assert.deepEqual([...card!.columns.most], [9, 7]);
  assert.deepEqual([...card!.pieces.born], [2, 5]);
  assert.deepEqual([...card!.pieces.letGo], [6, Infinity]);
  assert.deepEqual([...card!.pieces.gone], [7, Infinity]);
  assert.deepEqual([...card!.pieces.address], [4096, 3584]);
  assert.deepEqual([...card!.mapped.until], [Infinity]);
});

test("numbers become names", () => {
  const run = decode(PAGE);
  assert.equal(run.origins[0]!.role, "parameter");
  assert.deepEqual(run.phases, [{ event: 4, name: "backward" }]);
  assert.deepEqual(run.steps, [
    { event: 2, number: 1 },
    { event: 5, number: 2 },
  ]);
});

test("the site of a failure is the user's own code", () => {
  assert.equal(decode(PAGE).cards[0]!.failures[0]!.site, "train.py:3 step");
});

test("the time of an event is known, or lies between its neighbours'", () => {
  const { clock } = decode(PAGE);
  assert.deepEqual([clock.at(1), clock.at(5), clock.at(9)], [1000, 5000, 9000]);
  assert.deepEqual([clock.knows(9), clock.knows(5)], [true, false]);
});

test("data of another version are refused by a sentence", () => {
  assert.throws(() => decode({ ...PAGE, schema: "memtrace.page/9" }), /memtrace.page\/9/);
});
