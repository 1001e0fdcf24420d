// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { factsOf, framesOf, pieceBornAt, piecesOfBlock } from "#page/map/block_facts.ts";
import { card, origin, pieces, type PieceText, run, stacks } from "./support/runs.ts";

const steps = [10, 20, 30].map((event, i) => ({ event, number: i + 1 }));
const phases = [{ event: 32, name: "backward" }];

function facts(
  event: number,
  piece: number,
  ...texts: readonly PieceText[]
): Record<string, string> {
  const one = card({ pieces: pieces(...texts) });
  const origins = [origin({ role: "gradient", evidence: "inferred", stream: "0x7", pool: 2 })];
  return Object.fromEntries(
    factsOf(run({ steps, phases, origins, cards: [one] }), one, piece, event),
  );
}

const block = { born: 5, address: 0x7f0000000000, bytes: 1000, slack: 24 };

test("a block's facts are its size, address, role and stream", () => {
  const told = facts(8, 0, block);
  assert.equal(told["Size"], "1000 bytes; with rounding 1,024 bytes (1.0 KiB)");
  assert.equal(told["Address"], "0x7f0000000000");
  assert.equal(told["Role"], "gradients (inferred)");
  assert.equal(told["Owner"], "untagged");
  assert.equal(told["Stream"], "0x7, pool 2");
  assert.ok(!("Path" in told));
});

test("a block's age is in steps and time", () => {
  assert.equal(facts(8, 0, block)["Allocated"], "event 5 · 5.0 ms: 3.0 ms old");
  assert.equal(facts(15, 0, block)["Allocated"], "event 5 · 5.0 ms: 1 step and 10.0 ms old");
  assert.equal(facts(35, 0, block)["Allocated"], "event 5 · 5.0 ms: 3 steps and 30.0 ms old");
  assert.equal(facts(4, 0, block)["Allocated"], "event 5 · 5.0 ms: after this moment");
});

test("a free has its moment and its wait", () => {
  const freed = (event: number, letGo?: number, gone?: number): string | undefined =>
    facts(event, 0, { ...block, ...(letGo ? { letGo } : {}), ...(gone ? { gone } : {}) })["Freed"];
  assert.equal(freed(8), "never freed in this trace");
  assert.equal(freed(8, 33), "free requested at event 33, step 3, backward, 25.0 ms later");
  assert.equal(
    freed(34, 33, 40),
    "free requested at event 33, step 3, backward, 1.0 ms earlier; it waits for its stream until event 40",
  );
  assert.match(freed(34, 33, Infinity)!, /waits for its stream until the end of the trace$/);
});

test("a piece of a flat buffer is a part of its block", () => {
  const flat = [0, 100, 200].map((address, i) => ({
    born: 3,
    address,
    bytes: 100,
    slack: i === 2 ? 12 : 0,
  }));
  const told = facts(8, 1, { born: 2, address: 900, bytes: 1 }, ...flat, block);
  assert.equal(told["Part"], "1 of 3, in a block of 300 bytes; with rounding 312 bytes");
  assert.equal(told["Size"], "100 bytes");
});

test("a block is all pieces that were born at its event", () => {
  const texts = [2, 3, 3, 3, 5].map((born, i) => ({ born, address: i * 10, bytes: 10 }));
  const all = pieces(...texts);
  assert.deepEqual(piecesOfBlock(all, 2), [1, 4]);
  assert.equal(pieceBornAt(all, 3), 1);
  assert.equal(pieceBornAt(all, 4), -1);
});

test("a stack begins with the innermost frame", () => {
  const all = stacks([0, "main", true], [1, "torch"], [2, "forward", true]);
  assert.deepEqual(framesOf(all, 3), [
    { name: "forward", isUser: true },
    { name: "torch", isUser: false },
    { name: "main", isUser: true },
  ]);
  assert.deepEqual(framesOf(all, 0), []);
});
