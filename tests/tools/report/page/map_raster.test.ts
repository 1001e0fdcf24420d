// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import type { Inks } from "#page/map/inks.ts";
import { Raster } from "#page/map/raster.ts";
import type { Layout } from "#page/map/rows.ts";
import { HOLE, type Spans } from "#page/map/spans.ts";
import type { Card } from "#page/model.ts";
import { at, oneSegment } from "./support/maps.ts";
import { card, ranges } from "./support/runs.ts";

// Inks are letters: of hole, unmapped and the pieces in turn; their edges are capitals.
const LETTERS = ".-rgb";
const codes = (text: string): Uint32Array => Uint32Array.from(text, (c) => c.charCodeAt(0));
const INKS: Inks = { plain: codes(LETTERS), edge: codes(LETTERS.toUpperCase()) };

function colours(spans: Spans): Uint16Array {
  return Uint16Array.from(spans.what, (what) =>
    what < 0 ? (what === HOLE ? 0 : 1) : 2 + (what % 3),
  );
}

function layout(scale: number, ...segments: readonly [place: number, length: number][]): Layout {
  const ends = segments.map(([place, length]) => place + length);
  return {
    columns: 10,
    rows: Math.ceil(Math.max(...ends) / 10),
    rowHeight: 2,
    rowGap: 1,
    scale,
    place: Float64Array.from(segments, ([place]) => place),
    length: Float64Array.from(segments, ([, length]) => length),
  };
}

function lineText(card: Card, layout: Layout, event = 1): string {
  const spans = at(card, event);
  const raster = new Raster(layout, INKS);
  raster.paintLine(spans, colours(spans));
  return Array.from(raster.line, (pixel) => (pixel ? String.fromCharCode(pixel) : " ")).join("");
}

const block = (address: number, bytes: number) => ({ born: 1, address, bytes });

test("a column has the colour with most of its bytes", () => {
  const one = oneSegment(100, block(0, 6), block(10, 4), block(24, 6), block(38, 8));
  assert.equal(lineText(one, layout(10, [0, 10])), "r.b.r.....");
});

test("blocks of one colour together win over a larger block", () => {
  const one = oneSegment(100, block(0, 3), block(3, 4), block(7, 0), block(7, 3));
  assert.equal(lineText(one, layout(10, [0, 10]))[0], "r");
});

test("a block's first whole column is its edge if it has room for one", () => {
  const one = oneSegment(100, block(0, 30), block(35, 45));
  assert.equal(lineText(one, layout(10, [0, 10])), "rrr.Gggg..");
  assert.equal(lineText(oneSegment(100, block(0, 40)), layout(10, [0, 10])), "Rrrr......");
});

test("a segment goes on in the next row", () => {
  const one = oneSegment(150, block(80, 30));
  assert.equal(lineText(one, layout(10, [0, 15])), "........rrr....     ");
});

test("between segments nothing is painted", () => {
  const two = card({ mapped: ranges([0, 25], [100, 30, 1, 5]) });
  assert.equal(lineText(two, layout(10, [0, 3], [5, 3])), "...  ...  ");
  assert.equal(lineText(two, layout(10, [0, 3], [5, 3]), 6), "...  ---  ");
});

test("a segment that is smaller than a column is seen", () => {
  assert.equal(lineText(oneSegment(4, block(0, 3)), layout(10, [2, 1])), "  r       ");
});

test("a later moment leaves no votes of the one before", () => {
  const one = oneSegment(100, { ...block(0, 100), letGo: 2 });
  const spans = at(one, 1);
  const raster = new Raster(layout(10, [0, 10]), INKS);
  raster.paintLine(spans, colours(spans));
  spans.goTo(2);
  raster.paintLine(spans, colours(spans));
  assert.deepEqual(raster.line, codes(".........."));
});

test("each row of the picture is its part of the line, and gaps stay as they are", () => {
  const raster = new Raster(layout(10, [0, 20]), INKS);
  raster.line.set(codes("aaaaaaaaaabbbbbbbbbb"));
  const pixels = new Uint32Array(10 * 5);
  raster.copyTo(pixels);
  const rows = [0, 1, 2, 3, 4].map((y) => String.fromCharCode(pixels[y * 10]!));
  assert.deepEqual(rows, ["a", "a", "\0", "b", "b"]);
});
