// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { orderOf } from "#page/sorted.ts";

test("equal values keep their order", () => {
  assert.deepEqual([...orderOf(Float64Array.of(7, 3, 7, 1, 3))], [3, 1, 4, 0, 2]);
});

test("nothing has no order", () => {
  assert.equal(orderOf(new Float64Array()).length, 0);
});

test("many values are in the order that a comparing sort finds", () => {
  let seed = 1;
  const values = Float64Array.from(
    { length: 5000 },
    () => (seed = (seed * 48271) % 2147483647) % 900,
  );
  const expected = [...values.keys()].sort((a, b) => values[a]! - values[b]! || a - b);
  assert.deepEqual([...orderOf(values)], expected);
});
