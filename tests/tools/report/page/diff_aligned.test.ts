// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { aligned } from "#page/diff/aligned.ts";
import { keysOf, PALETTE } from "#page/keys.ts";
import type { Run } from "#page/model.ts";
import { card, origin, run } from "./support/runs.ts";

/** Returns a run with one column, and owners with the given bytes in it. */
function runOf(owners: Record<string, number>): Run {
  const keys = Object.entries(owners).map(([name, bytes]) => ({
    name,
    bytes: Float64Array.of(bytes),
  }));
  const origins = Object.keys(owners).map((owner) => origin({ owner }));
  const groupings = [{ name: "owner" as const, keys, rest: Float64Array.of(1) }];
  return run({ origins, cards: [card({ groupings })] });
}

const coloursOf = (of: Run): Record<string, string> => {
  const { names, colours } = keysOf(of, of.cards[0]!, "owner");
  return Object.fromEntries(names.map((name, i) => [name, colours[i]!]));
};

test("a name has one colour in both runs", () => {
  const [before, after] = aligned(runOf({ policy: 5, critic: 3 }), runOf({ critic: 9, other: 4 }));
  const colours = coloursOf(before);
  assert.deepEqual(colours, coloursOf(after));
  assert.deepEqual(colours, {
    critic: "key_0",
    policy: "key_1",
    other: "key_2",
    "all else": "unknown",
  });
});

test("names without a colour are the rest, so that sums stay", () => {
  const many = Object.fromEntries(Array.from({ length: PALETTE }, (_, i) => [`n${i}`, 100 + i]));
  const [before] = aligned(runOf({ small: 7 }), runOf(many));
  const { keys, rest } = before.cards[0]!.groupings[0]!;
  assert.equal(keys.length, PALETTE);
  assert.deepEqual([...rest], [8]);
  assert.ok(keys.every(({ bytes }) => bytes[0] === 0));
});
