// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text of a trace, of any length, becomes text on a canvas and in elements.
import assert from "node:assert/strict";
import { onPage } from "./browser.ts";
import { fileText, pageOf } from "./programs.ts";

const hostile = fileText("tests/tools/report/page/hostile.trace.txt");

onPage(
  "no view executes texts of a trace",
  () => pageOf(hostile),
  async (of) => {
    await of.locator("#map canvas").waitFor();
    for (const by of ["by owner", "by module", "by line"])
      await of.locator("#timeline").getByRole("radio", { name: by }).click();
    await of.locator("#flame").getByRole("radio", { name: "treemap" }).click();
    await of.locator("#flame .graph").focus();
    for (const key of ["ArrowDown", "Enter", "ArrowDown", "Enter"]) await of.keyboard.press(key);
    await of.locator("#map .space").click({ position: { x: 5, y: 5 } });
    await of.waitForTimeout(100);
    assert.equal(await of.evaluate("typeof executed"), "undefined");
    assert.equal(await of.locator('iframe, img, a:not([href^="#"])').count(), 0);
  },
);

const LONG = "x".repeat(2 ** 20);
const RIGHT_TO_LEFT = "\u202e\u2066evil\u2069";
const names = [
  'info command ["python","train.py"]',
  "map 0 0x7f0000000000 size=1GiB",
  `alloc 0 0x7f0000000000 requested=900MiB stack=${LONG}@${LONG}.py:1 owner=${LONG} module=${LONG}`,
  `alloc 0 0x7f0038400000 requested=8MiB stack=${RIGHT_TO_LEFT}@f.py:1 owner=${RIGHT_TO_LEFT}`,
].join("\n");

onPage(
  "names of a megabyte make no page larger, nor wider than the screen",
  () => pageOf(names),
  async (of) => {
    await of.locator("#map canvas").waitFor();
    for (const by of ["by owner", "by module", "by line"])
      await of.locator("#timeline").getByRole("radio", { name: by }).click();
    const size = await of.evaluate(() => document.documentElement.outerHTML.length);
    assert.ok(size < 400_000, `${size} bytes`);
    assert.ok(!(await of.evaluate(() => document.documentElement.scrollWidth > innerWidth)));
    assert.ok(!(await of.evaluate(() => /[\u202e\u2066]/.test(document.body.innerText))));
  },
);
