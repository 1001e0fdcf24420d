// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";

import { cellAt, fullestOf, moved, placesOf, ranksIn } from "#page/ranks/ranks.ts";
import { cellWords } from "#page/ranks/words.ts";
import { ranks } from "./support/ranks.ts";

const JOB = ranks();
const SQUARES = ranks({}, { rows: 2, columns: 3, ranks_down: 2, ranks_across: 3 });

test("a point is in its cell, and beside the cells in none", () => {
  assert.deepEqual(cellAt(JOB.cells, 100, 20), { row: 0, column: 0 });
  assert.deepEqual(cellAt(JOB.cells, 499, 59), { row: 3, column: 7 });
  for (const [x, y] of [
    [99, 30],
    [500, 30],
    [200, 19],
    [200, 60],
  ] as const)
    assert.equal(cellAt(JOB.cells, x, y), null);
});

test("each rank is in one cell, whatever the size of the cells", () => {
  for (const job of [JOB, SQUARES]) {
    const seen: number[] = [];
    for (let row = 0; row < job.cells.rows; ++row)
      for (let column = 0; column < job.cells.columns; ++column)
        seen.push(...ranksIn(job, { row, column }));
    assert.deepEqual(
      seen.sort((a, b) => a - b),
      Array.from({ length: 32 }, (_, rank) => rank),
    );
  }
});

test("columns are places in the further dimensions, the last one first", () => {
  assert.deepEqual(ranksIn(JOB, { row: 1, column: 5 }), [13]);
  assert.deepEqual(placesOf(JOB, 13), [
    "pipeline stage 2 of 4",
    "data-parallel rank 2 of 2",
    "tensor-parallel rank 2 of 4",
  ]);
});

test("machines and cards count from 0, and the last machine may have fewer ranks", () => {
  const job = ranks(
    {
      world: 10,
      rows: { words: "machine $0", size: 2, stride: 8, from: 0 },
      columns: [{ words: "card $0", size: 8, stride: 1, from: 0 }],
    },
    { rows: 2 },
  );
  assert.deepEqual(placesOf(job, 9), ["machine 1", "card 1"]);
  assert.deepEqual(ranksIn(job, { row: 1, column: 2 }), []);
  assert.equal(cellWords(job, { row: 1, column: 2 }), null);
});

test("keys stop at the edges", () => {
  const corner = { row: 0, column: 0 };
  assert.deepEqual(moved(JOB.cells, corner, "ArrowUp"), corner);
  assert.deepEqual(moved(JOB.cells, corner, "ArrowRight"), { row: 0, column: 1 });
  assert.deepEqual(moved(JOB.cells, corner, "End"), { row: 0, column: 7 });
  assert.deepEqual(moved(JOB.cells, corner, "PageDown"), { row: 3, column: 0 });
  assert.equal(moved(JOB.cells, corner, "x"), null);
});

test("a rank that was started has its figures and its page", () => {
  assert.deepEqual(cellWords(JOB, { row: 0, column: 0 }), {
    text:
      "Rank 0: pipeline stage 1 of 4, data-parallel rank 1 of 2, tensor-parallel rank 1 of 4; " +
      "70.00 GiB of the card's 80.00 GiB used (88 %).",
    page: "rank-0.html",
  });
});

test("a virtual rank names the one that stands for it, and has no page", () => {
  const words = cellWords(JOB, { row: 3, column: 1 })!;
  assert.match(words.text, /^Rank 25: .*; it was not started, rank 24 stands for it: 40\.00 GiB /);
  assert.equal(words.page, "");
});

test("a rank for which nothing stands is not described", () => {
  assert.match(cellWords(JOB, { row: 1, column: 0 })!.text, /; what it holds is not known\.$/);
});

test("a cell of several ranks says so and is about the fullest", () => {
  assert.equal(fullestOf(JOB, [8, 25, 1]), 1);
  assert.equal(fullestOf(JOB, [8, 9]), 8);
  const words = cellWords(SQUARES, { row: 1, column: 0 })!;
  assert.match(words.text, /^Rank 24: .* This is the fullest of 6 ranks\.$/);
  assert.equal(words.page, "");
});
