// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import {
  columnAt,
  columnsOf,
  segmentAt,
  segmentOf,
  spanAt,
  spanOfPiece,
  stripsOf,
} from "#page/map/pick.ts";
import type { Layout } from "#page/map/rows.ts";
import { HOLE, UNMAPPED } from "#page/map/spans.ts";
import { at, oneSegment } from "./support/maps.ts";
import { card, pieces, ranges } from "./support/runs.ts";

const LAYOUT: Layout = {
  columns: 10,
  rows: 2,
  rowHeight: 16,
  rowGap: 4,
  scale: 10,
  place: Float64Array.of(0, 8, 8),
  length: Float64Array.of(6, 0, 7),
};

test("a place between rows or beside them is of no column", () => {
  assert.equal(columnAt(LAYOUT, 3.5, 15), 3);
  assert.equal(columnAt(LAYOUT, 3.5, 16), -1);
  assert.equal(columnAt(LAYOUT, 3.5, 20), 13);
  assert.equal(columnAt(LAYOUT, 3.5, 40), -1);
  assert.equal(columnAt(LAYOUT, -1, 3), -1);
  assert.equal(columnAt(LAYOUT, 10, 3), -1);
});

test("a column between segments is of none, and one that is not drawn has none", () => {
  assert.deepEqual(
    [0, 5, 6, 7, 8, 14, 15].map((column) => segmentAt(LAYOUT, column)),
    [0, 0, -1, -1, 2, 2, -1],
  );
});

test("a column's block is the one that has most of it, before larger holes", () => {
  const one = oneSegment(
    60,
    { born: 1, address: 1, bytes: 2 },
    { born: 1, address: 6, bytes: 3 },
    { born: 1, address: 30, bytes: 30, letGo: 2 },
  );
  const spans = at(one, 1);
  const what = (column: number): number => spans.what[spanAt(spans, LAYOUT, column)]!;
  assert.deepEqual([0, 1, 3, 5].map(what), [1, HOLE, 2, 2]);
  assert.equal(spanAt(spans, LAYOUT, 7), -1);
});

test("memory that is not mapped is found", () => {
  const spans = at(card({ mapped: ranges([0, 60, 5]) }), 1);
  assert.equal(spans.what[spanAt(spans, LAYOUT, 2)], UNMAPPED);
});

test("a piece is found at its address only while it lives", () => {
  const spans = at(oneSegment(60, { born: 2, address: 10, bytes: 10, letGo: 4 }), 1);
  assert.equal(spanOfPiece(spans, 0, 10), -1);
  spans.goTo(2);
  assert.equal(spanOfPiece(spans, 0, 10), 1);
});

test("a piece that another reaches into is found, too", () => {
  const broken = oneSegment(
    60,
    { born: 1, address: 0, bytes: 20 },
    { born: 1, address: 10, bytes: 30 },
  );
  assert.equal(spanOfPiece(at(broken, 1), 1, 10), 1);
});

test("a span's columns count from its segment's place, and are one at least", () => {
  const texts = pieces({ born: 1, address: 120, bytes: 20 }, { born: 1, address: 151, bytes: 2 });
  const mapped = ranges([0, 60], [70, 10], [100, 70]);
  const spans = at(card({ mapped, pieces: texts }), 1);
  const of = (piece: number, address: number): number => spanOfPiece(spans, piece, address);
  assert.equal(segmentOf(spans, of(0, 120)), 2);
  assert.deepEqual(columnsOf(spans, LAYOUT, of(0, 120)), [10, 12]);
  assert.deepEqual(columnsOf(spans, LAYOUT, of(1, 151)), [13.1, 14]);
});

test("a block over several rows is a strip in each", () => {
  assert.deepEqual(stripsOf(LAYOUT, 8, 21), [
    { row: 0, from: 8, until: 10 },
    { row: 1, from: 0, until: 10 },
    { row: 2, from: 0, until: 1 },
  ]);
});
