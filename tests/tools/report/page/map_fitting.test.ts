// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { Fitting } from "#page/map/fitting.ts";
import { Spans } from "#page/map/spans.ts";
import type { Card } from "#page/model.ts";
import { card, MIB, type RangeText, ranges } from "./support/runs.ts";

function cardOf(most: number, ...mapped: readonly RangeText[]): Card {
  const { columns } = card();
  return card({
    columns: { ...columns, reserved: Float64Array.of(most) },
    mapped: ranges(...mapped),
  });
}

test("a segment stays where it is while others come and go", () => {
  const one = cardOf(3 * MIB, [0, MIB, 1, 5], [2 * MIB, 2 * MIB, 3]);
  const spans = new Spans(one);
  const fitting = new Fitting(one, spans);
  spans.goTo(4);
  const layout = fitting.layoutFor(1000, 1);
  spans.goTo(6);
  assert.equal(fitting.layoutFor(1000, 1), layout);
  assert.notEqual(fitting.layoutFor(500, 1), layout);
});

test("segments that are gone leave no room if addresses are seldom reused", () => {
  const times = [0, 1, 2, 3, 4].map((i): RangeText => [i * 2 * MIB, MIB, i * 10 + 1, i * 10 + 10]);
  const one = cardOf(MIB, ...times);
  const spans = new Spans(one);
  const fitting = new Fitting(one, spans);
  spans.goTo(5);
  const layout = fitting.layoutFor(1000, 1);
  assert.deepEqual([...layout.length], [2048, 0, 0, 0, 0]);
  spans.goTo(6);
  assert.equal(fitting.layoutFor(1000, 1), layout);
  spans.goTo(15);
  assert.deepEqual([...fitting.layoutFor(1000, 1).length], [0, 2048, 0, 0, 0]);
});
