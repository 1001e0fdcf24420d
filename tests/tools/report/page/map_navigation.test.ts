// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { eventsOf, neighbourOf } from "#page/map/card_events.ts";
import { moved } from "#page/map/navigation.ts";
import type { Layout } from "#page/map/rows.ts";
import { at } from "./support/maps.ts";
import { card, failure, pieces, ranges } from "./support/runs.ts";

const block = (address: number, bytes: number) => ({ born: 1, address, bytes });
const CARD = card({
  mapped: ranges([0, 200], [300, 50], [400, 50]),
  pieces: pieces(block(0, 40), block(60, 30), block(110, 80), block(410, 20), block(430, 20)),
});
const LAYOUT: Layout = {
  columns: 10,
  rows: 3,
  rowHeight: 16,
  rowGap: 4,
  scale: 10,
  place: Float64Array.of(0, 20, 25),
  length: Float64Array.of(20, 5, 5),
};

/** Returns the pieces that keys lead to, one after the other. */
function walk(first: number, ...keys: readonly string[]): number[] {
  const spans = at(CARD, 1);
  let span = spans.what.indexOf(first);
  return keys.map((key) => spans.what[(span = moved(spans, LAYOUT, span, key)!)]!);
}

test("from nowhere keys lead to the first block", () => {
  assert.equal(moved(at(CARD, 1), LAYOUT, -1, "ArrowDown"), 0);
  assert.equal(moved(at(card(), 1), LAYOUT, -1, "ArrowDown"), -1);
});

test("left and right lead to the neighbours by address, over holes and segments", () => {
  assert.deepEqual(walk(0, "ArrowRight", "ArrowRight", "ArrowRight"), [1, 2, 3]);
  assert.deepEqual(walk(3, "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft"), [2, 1, 0, 0]);
});

test("up and down lead to the next rows", () => {
  assert.deepEqual(walk(1, "ArrowDown", "ArrowDown", "ArrowUp"), [2, 3, 2]);
  assert.deepEqual(walk(4, "ArrowDown"), [4]);
});

test("pages are segments, of which those without blocks are passed over", () => {
  assert.deepEqual(walk(1, "PageDown", "PageDown", "PageUp", "PageUp"), [3, 3, 0, 0]);
  assert.deepEqual(walk(1, "End", "Home"), [4, 0]);
});

test("other keys lead nowhere", () => {
  assert.equal(moved(at(CARD, 1), LAYOUT, 0, "x"), undefined);
  assert.equal(moved(at(CARD, 1), LAYOUT, 0, "constructor"), undefined);
});

test("a card's events are those that change its memory, each once", () => {
  const one = card({
    mapped: ranges([0, 100, 2, 9]),
    pieces: pieces({ ...block(0, 10), born: 3, letGo: 5, gone: 7 }, { ...block(20, 10), born: 5 }),
    failures: [failure({ event: 8 })],
  });
  const events = eventsOf(one);
  assert.deepEqual([...events], [2, 3, 5, 7, 8, 9]);
  assert.deepEqual([neighbourOf(events, 5, 1), neighbourOf(events, 5, -1)], [7, 3]);
  assert.deepEqual([neighbourOf(events, 6, 1), neighbourOf(events, 6, -1)], [7, 5]);
  assert.deepEqual([neighbourOf(events, 9, 1), neighbourOf(events, 2, -1)], [undefined, undefined]);
  assert.deepEqual([neighbourOf(events, 1, -1), neighbourOf(events, 99, -1)], [undefined, 9]);
});
