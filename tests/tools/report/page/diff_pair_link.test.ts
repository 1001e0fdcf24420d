// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { beginningOf, statesOf, textOfPair } from "#page/diff/pair_link.ts";
import type { Run } from "#page/model.ts";
import { LATER } from "./support/changes.ts";
import { SMALL } from "./support/trees.ts";

const runs = [SMALL, LATER] as const;
const moments: readonly [Run, Run] = [SMALL, { ...SMALL, told: { card: 0, event: 30 } }];

test("the address has each side's moment, and common values once", () => {
  const [before, after] = beginningOf(runs);
  const states = [
    { ...before, event: 12, by: "owner", search: "a.b" },
    { ...after, event: 34, from: 20, to: 40, by: "owner", search: "a.b" },
  ] as const;
  const text = textOfPair(states, runs);
  assert.equal(text, "a.t=12&by=owner&q=a.b&b.t=34&b.from=20&b.to=40");
  assert.deepEqual(statesOf(text, runs), states);
});

test("initial values are not in the address", () => {
  assert.equal(textOfPair(beginningOf(runs), runs), "");
  assert.deepEqual(statesOf("a.t=1", moments)![1], beginningOf(moments)[1]);
});

test("two runs are compared by module, two moments of one by stack", () => {
  assert.deepEqual(
    [runs, moments].map((of) => beginningOf(of).map(({ tree }) => tree)),
    [
      ["module", "module"],
      ["stack", "stack"],
    ],
  );
  assert.equal(statesOf("tree=stack", runs)![1].tree, "stack");
});

test("the name of a section is no state, and invalid values are left out", () => {
  assert.equal(statesOf("flame-after", runs), null);
  assert.deepEqual(statesOf("a.t=x&b.t=1e99&t=5&shape=cube", runs), beginningOf(runs));
});
