// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { withoutMovedLines } from "#page/diff/lines.ts";

const both = (before: string[], after: string[]): string[] =>
  withoutMovedLines(before, after).map((names) => names.join(" | "));

test("a function in which lines moved is known without them", () => {
  assert.deepEqual(both(["train.py:58 main", "a.py:1 f"], ["train.py:59 main", "a.py:1 f"]), [
    "train.py main | a.py:1 f",
    "train.py main | a.py:1 f",
  ]);
});

test("lines stay where one run goes through more of them", () => {
  assert.deepEqual(both(["a.py:1 f"], ["a.py:1 f", "a.py:7 f"]), [
    "a.py:1 f",
    "a.py:1 f | a.py:7 f",
  ]);
});

test("functions of the same name in other files are others", () => {
  assert.deepEqual(both(["a.py:1 f"], ["b.py:2 f"]), ["a.py:1 f", "b.py:2 f"]);
});

test("frames without a line are as they are", () => {
  const names = ["at::empty (libtorch.so)", "libfoo.so+0x12", "__clone"];
  assert.deepEqual(withoutMovedLines(names, names), [names, names]);
});

test("a frame without a function has its line alone", () => {
  assert.deepEqual(both(["a.py:1"], ["a.py:2"]), ["a.py", "a.py"]);
});
