// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { fits, holesOf } from "#page/map/holes.ts";
import { at, oneSegment, spansText } from "./support/maps.ts";
import { card, failure, MIB, pieces, ranges } from "./support/runs.ts";

test("memory without a block in use is a hole", () => {
  const one = oneSegment(
    100,
    { born: 1, address: 10, bytes: 20 },
    { born: 2, address: 30, bytes: 10, letGo: 4 },
  );
  assert.deepEqual(spansText(one, 1), [".aa......."]);
  assert.deepEqual(spansText(one, 3), [".aab......"]);
  assert.deepEqual(spansText(one, 4), [".aa......."]);
});

test("a block that waits for its stream still has its memory", () => {
  const one = oneSegment(30, { born: 1, address: 0, bytes: 20, letGo: 3, gone: 5 });
  assert.deepEqual(spansText(one, 4), ["aa."]);
  assert.deepEqual(spansText(one, 5), ["..."]);
});

test("the rounding of a block is no hole", () => {
  assert.deepEqual(spansText(oneSegment(30, { born: 1, address: 0, bytes: 10, slack: 10 }), 1), [
    "aa.",
  ]);
});

test("in a reservation a hole goes on over neighbouring mappings", () => {
  const mapped = ranges([0, 20], [20, 20, 3]);
  const block = pieces({ born: 1, address: 0, bytes: 10 });
  const growing = card({ reserved: ranges([0, 1000]), mapped, pieces: block });
  assert.deepEqual(spansText(growing, 2), ["a.__"]);
  assert.deepEqual(spansText(growing, 3), ["a..."]);
  assert.equal(holesOf(at(growing, 3)).largest, 30);
});

test("holes of segments that touch are two", () => {
  const holes = holesOf(at(card({ mapped: ranges([0, 20], [20, 30]) }), 1));
  assert.deepEqual(holes, { count: 2, bytes: 50, largest: 30, largestAt: 20 });
});

test("holes of mappings that touch are two where a larger one was before", () => {
  const mapped = ranges([0, 60, 1, 2], [0, 20, 3], [20, 20, 3]);
  assert.deepEqual(spansText(card({ mapped }), 4), ["..|..__"]);
});

test("memory that was given back in the midst is not mapped", () => {
  const mapped = ranges([0, 20], [20, 20, 1, 5], [40, 20]);
  const growing = card({ reserved: ranges([0, 100]), mapped });
  assert.deepEqual(spansText(growing, 4), ["......"]);
  assert.deepEqual(spansText(growing, 5), ["..__.."]);
});

test("pieces of one block stand beside each other", () => {
  const flat = oneSegment(
    40,
    { born: 1, address: 0, bytes: 20 },
    { born: 1, address: 20, bytes: 20 },
  );
  assert.deepEqual(spansText(flat, 1), ["aabb"]);
});

test("of blocks that a broken trace has at one place the first by address is shown", () => {
  const broken = oneSegment(
    50,
    { born: 1, address: 0, bytes: 30 },
    { born: 2, address: 20, bytes: 30 },
  );
  assert.deepEqual(spansText(broken, 2), ["aaabb"]);
});

test("a guessed segment has holes between blocks, and nothing is known beyond them", () => {
  const texts = [0, 20, 50].map((mib) => ({ born: 1, address: mib * MIB, bytes: 10 * MIB }));
  const ends = [
    { born: 1, address: 100 * MIB, bytes: 10 * MIB, letGo: 2 },
    { born: 1, address: 80 * MIB, bytes: 10 * MIB, letGo: 2 },
  ];
  const foreign = card({ pieces: pieces(...texts, ...ends) });
  assert.deepEqual(spansText(foreign, 2, 10 * MIB), ["a.b..c_____"]);
});

test("going to another moment leaves nothing of the last", () => {
  const one = oneSegment(
    40,
    { born: 1, address: 0, bytes: 10, letGo: 3 },
    { born: 2, address: 20, bytes: 10, letGo: 3 },
  );
  const spans = at(one, 2);
  assert.equal(spans.count, 4);
  spans.goTo(3);
  assert.equal(spans.count, 1);
  assert.deepEqual(holesOf(spans), { count: 1, bytes: 40, largest: 40, largestAt: 0 });
});

test("a request fits only into one hole that is as large", () => {
  const holes = holesOf(at(oneSegment(90, { born: 1, address: 30, bytes: 20 }), 1));
  assert.equal(holes.bytes, 70);
  assert.ok(fits(failure({ event: 1, allocated: 40 }), holes));
  assert.ok(!fits(failure({ event: 1, allocated: 41 }), holes));
});

test("a card without memory has no spans", () => {
  assert.deepEqual(spansText(card(), 1), []);
  assert.deepEqual(holesOf(at(card(), 1)), { count: 0, bytes: 0, largest: 0, largestAt: 0 });
});
