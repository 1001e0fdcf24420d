// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { type Extent, heightOf, type Layout, layOut } from "#page/map/rows.ts";
import { GIB, MIB } from "./support/runs.ts";

function extents(...sizes: readonly number[]): Extent[] {
  let start = 0;
  return sizes.map((size) => ({ start, end: (start += size) }));
}

const many = (count: number, size: number): number[] => new Array<number>(count).fill(size);

function assertNoneOverlap(layout: Layout): void {
  let end = 0;
  for (let i = 0; i < layout.place.length; ++i) {
    assert.ok(layout.place[i]! >= end, `segment ${i}`);
    end = layout.place[i]! + layout.length[i]!;
  }
  assert.ok(end <= layout.rows * layout.columns);
}

test("a large segment wraps over all rows", () => {
  const layout = layOut(extents(24 * GIB), 1000, 1);
  assertNoneOverlap(layout);
  assert.ok(layout.rows > 15 && heightOf(layout) <= 480);
  assert.ok(layout.length[0]! > (layout.rows - 1) * 1000);
});

test("hundreds of small segments share rows, uncut", () => {
  const layout = layOut(extents(...many(800, 2 * MIB), 8 * GIB), 1000, 1);
  assertNoneOverlap(layout);
  assert.ok(heightOf(layout) <= 480);
  for (let i = 0; i < 800; ++i) {
    const first = Math.floor(layout.place[i]! / 1000);
    assert.equal(
      first,
      Math.floor((layout.place[i]! + layout.length[i]! - 1) / 1000),
      `segment ${i}`,
    );
  }
});

test("tens of thousands of segments have a column each", () => {
  for (const columns of [340, 2200]) {
    const layout = layOut(extents(...many(20_000, 2 * MIB)), columns, 2);
    assertNoneOverlap(layout);
    assert.ok(layout.length.every((length) => length >= 1));
  }
});

test("a toy run is not drawn finer than its allocations", () => {
  const layout = layOut(extents(2 * MIB), 1000, 1);
  assert.equal(layout.scale, 512);
  assert.deepEqual([layout.rows, layout.rowHeight], [5, 28]);
});

test("segments that are not shown take no room", () => {
  const layout = layOut(extents(MIB, GIB, MIB), 1000, 1, (i) => i !== 1);
  assertNoneOverlap(layout);
  assert.equal(layout.length[1], 0);
  assert.equal(layout.scale, 512);
});

test("a card without segments has one empty row", () => {
  assert.equal(layOut([], 1000, 1).rows, 1);
});
