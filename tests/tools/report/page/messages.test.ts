// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The sentences of a page with translations.
import assert from "node:assert/strict";
import { test } from "node:test";

import { GIB, MIB, run } from "./support/runs.ts";

const TEXTS = {
  "step $0, $1": "第 $0 步，$1",
  "event $0": "事件 $0",
  "$0 of $1": "$1 的 $0",
  "1 block": "$0 个块",
  ", ": "，",
  "(no stack)": "（无调用栈）",
  "optimizer states": "优化器状态",
  "At most $0 was available.": "最多可用 $0。",
};

/** The page's template; this file has a process of its own. */
const document = {
  querySelector: (selector: string) =>
    selector === "template#translations" && { content: { textContent: JSON.stringify(TEXTS) } },
};
Object.assign(globalThis, { document });
// The modules print their first sentences when they are loaded.
const { counted, listed, sentences, translated } = await import("#page/messages.ts");
const { roleWords, siteWords } = await import("#page/names.ts");
const { positionWords } = await import("#page/position.ts");
const { requestWords } = await import("#page/map/words.ts");

test("a page with translations prints them", () => {
  const phases = [{ event: 1, name: "backward" }];
  const stepped = run({ steps: [{ event: 1, number: 2 }], phases });
  assert.equal(positionWords(stepped, 1200), "事件 1,200 · 1.00 s · 第 2 步，backward");
});

test("a text without a translation is printed in English", () => {
  assert.equal(translated("no match"), "no match");
  assert.equal(counted(1, "1 match", "$0 matches", 1), "1 match");
  assert.equal(counted(2, "1 match", "$0 matches", 2), "2 matches");
  const failure = { event: 1, requested: GIB, allocated: GIB, obtainable: MIB, site: "", stack: 0 };
  assert.equal(
    requestWords(failure, { count: 0, bytes: 0, largest: 0, largestAt: 0 }),
    "There is no hole. 最多可用 1.0 MiB。",
  );
});

test("a translation may change the order of the values", () => {
  assert.equal(translated("$0 of $1", "41 %", "7.90 GiB"), "7.90 GiB 的 41 %");
});

test("a translation has one form for all counts", () => {
  const blocks = (count: number): string => counted(count, "1 block", "$0 blocks", count);
  assert.deepEqual([0, 1, 2].map(blocks), ["0 个块", "1 个块", "2 个块"]);
});

test("values are inserted as they are, and two dollars are one", () => {
  assert.equal(translated("$$ $0$1 $1", "$1", 7), "$ $17 7");
});

test("lists and sentences are joined as the language does", () => {
  assert.equal(listed("优化器状态", "", "1.17 GiB"), "优化器状态，1.17 GiB");
  assert.equal(sentences("没有空洞。", "", "最多可用 0 字节。"), "没有空洞。最多可用 0 字节。");
  assert.equal(sentences("No hole.", "Nothing."), "No hole. Nothing.");
});

test("names of the vocabulary are printed as words, names of the program as they are", () => {
  assert.deepEqual(["optimizer_state", "a b"].map(roleWords), ["优化器状态", "a b"]);
  assert.deepEqual(["(no stack)", "train.py:18"].map(siteWords), ["（无调用栈）", "train.py:18"]);
});

test("names of an object's own properties are no translations", () => {
  assert.equal(translated("constructor"), "constructor");
});
