// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { keysOf, PALETTE } from "#page/keys.ts";
import { card, origin, run } from "./support/runs.ts";

const BYTES = new Float64Array();

test("roles have their own colours and words, and another name has the colour of the unknown", () => {
  const origins = ["gradient", "comm", "gradient", "a b"].map((role) => origin({ role }));
  const keys = keysOf(run({ origins }), card(), "role");
  assert.deepEqual(keys.names, ["gradient", "comm", "a b", "all else"]);
  assert.deepEqual(keys.labels, ["gradients", "communication", "a b", "all else"]);
  assert.deepEqual(keys.colours, ["gradient", "comm", "unknown", "unknown"]);
  assert.deepEqual([...keys.ofOrigin], [0, 1, 0, 2]);
});

test("owners have colours in the timeline's order", () => {
  const owners = ["", "b", "a", "c"].map((owner) => origin({ owner }));
  const names = ["a", "(none)", "b"].map((name) => ({ name, bytes: BYTES }));
  const one = card({ groupings: [{ name: "owner", keys: names, rest: BYTES }] });
  const keys = keysOf(run({ origins: owners }), one, "owner");
  assert.deepEqual(keys.colours, ["key_0", "key_1", "key_2", "unknown"]);
  assert.deepEqual([...keys.ofOrigin], [1, 2, 0, 3]);
});

test("keys beyond the palette are all else", () => {
  const origins = Array.from({ length: 20 }, (_, i) => origin({ site: `f${i}` }));
  const keys = keysOf(run({ origins }), card(), "site");
  assert.equal(keys.names.length, PALETTE + 1);
  assert.equal(keys.ofOrigin[19], PALETTE);
});
