// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { beginning, stateOf, textOf } from "#page/link.ts";
import { card, failure, run } from "./support/runs.ts";

const SOME = run({
  events: 5000,
  cards: [card(), card({ index: 3, failures: [failure({ event: 40 }), failure({ event: 70 })] })],
  told: { card: 1, event: 70 },
});

test("the initial view needs no address", () => {
  assert.equal(textOf(beginning(SOME), SOME), "");
});

test("an address restores the view", () => {
  const state = {
    ...beginning(SOME),
    card: 0,
    event: 123,
    from: 100,
    to: 200,
    by: "owner",
    tree: "module",
    shape: "treemap",
    search: "a&b=ü <c>",
    block: 7,
  } as const;
  assert.deepEqual(stateOf(textOf(state, SOME), SOME), state);
});

test("a failure is named by its number on its card", () => {
  assert.equal(stateOf("oom=1", SOME)!.event, 40);
  assert.equal(stateOf("oom=1&t=55", SOME)!.event, 55);
  assert.equal(stateOf("card=0&oom=1", SOME)!.card, 0);
});

test("the name of a section is no state", () => {
  assert.equal(stateOf("holders", SOME), null);
});

test("invalid values of an address keep the initial view", () => {
  const wrong = "card=9&t=-5&from=4000&to=10&by=<script>&tree=1&shape=&block=1e99&oom=9";
  assert.deepEqual(stateOf(wrong, SOME), beginning(SOME));
});
