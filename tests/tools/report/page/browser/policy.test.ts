// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Actions that a page must never do. `onPage` checks requests and the console for each of them.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { onPage } from "./browser.ts";
import { fileText, golden, pageOf } from "./programs.ts";

const hostile = () => pageOf(fileText("tests/tools/report/page/hostile.trace.txt"));
const words = (of: Page) => of.locator("main").textContent();

/** Returns the words without the contents, which also list the views if there are any. */
async function wordsWithoutContents(of: Page): Promise<string | null> {
  const contents = (await of.locator("#contents").textContent()) ?? "";
  return (await words(of))?.replace(contents, "") ?? null;
}

for (const name of ["fits", "fragmentation", "idle", "hostile_text"]) {
  onPage(
    `the page of ${name} asks for nothing and says nothing on the console`,
    () => pageOf(golden(name)),
    async (of) => assert.match((await words(of)) ?? "", /^\s*memtrace report/),
  );
}

onPage("texts of a trace are not executed", hostile, async (of) => {
  await of.locator("#ticket").evaluate((ticket) => ticket.setAttribute("open", ""));
  for (let i = 0; i < 40; ++i) await of.keyboard.press("Tab"); // an element with a focus handler?
  assert.equal(await of.evaluate(() => "executed" in window), false);
  assert.equal(await of.locator('img, a:not([href^="#"]), iframe, b, main script').count(), 0);
  assert.match((await words(of)) ?? "", /<script>executed=1<\/script>/);
});

onPage(
  "no text becomes markup, even for our own script",
  hostile,
  async (of) => {
    const setting = of.evaluate(() => (document.body.innerHTML = "<b>bold</b>"));
    await assert.rejects(setting, /requires 'TrustedHTML'/);
  },
  {
    faults: [
      "console: This document requires 'TrustedHTML' assignment. The action has been blocked.",
    ],
  },
);

onPage(
  "every word is there without scripts, and nothing that does not work",
  hostile,
  async (of) => {
    const without = await wordsWithoutContents(of);
    assert.equal(await of.locator("button").count(), 0);
    const context = await of.context().browser()?.newContext();
    const scripted = await context?.newPage();
    await scripted?.goto(of.url());
    await scripted?.locator("#map canvas").waitFor();
    const more = scripted?.locator(".copy, .view, #contents");
    await more?.evaluateAll((parts) => parts.forEach((part) => part.remove()));
    assert.equal(without, await scripted?.locator("main").textContent());
    await context?.close();
  },
  { javaScriptEnabled: false },
);
