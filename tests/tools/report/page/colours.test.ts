// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { colourOf, cssOf, inkOn, mixed } from "#page/colours.ts";

test("a computed colour is read", () => {
  assert.deepEqual(colourOf("rgb(47, 111, 222)"), [47, 111, 222]);
  assert.equal(cssOf(colourOf("rgba(1, 2, 3, 0.5)")), "rgb(1 2 3)");
});

test("ink is white on dark and black on bright colours", () => {
  assert.equal(inkOn([47, 111, 222]), "#fff");
  assert.equal(inkOn([232, 135, 30]), "#000");
  assert.equal(inkOn([0, 0, 0]), "#fff");
});

test("colours mix by their shares", () => {
  assert.deepEqual(mixed([200, 100, 0], [0, 100, 100], 0.25), [50, 100, 75]);
});
