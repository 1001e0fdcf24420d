// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a job with a keyboard, a mouse and axe.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { violations } from "./axe.ts";
import { onPage, settled, type Setting } from "./browser.ts";
import { viewPage } from "./views.ts";

const page = () => viewPage("ranks_page.ts");
const line = async (of: Page): Promise<string> => {
  await settled(of);
  return (await of.locator(".line").textContent()) ?? "";
};

/** Returns the middle of a cell in CSS pixels: the drawing has 1000 x 64 units. */
async function pointOf(of: Page, row: number, column: number): Promise<[number, number]> {
  const box = await of.locator("figure.ranks svg").boundingBox();
  assert.ok(box);
  const unit = box.width / 1000;
  return [box.x + (100 + 50 * (column + 0.5)) * unit, box.y + (20 + 10 * (row + 0.5)) * unit];
}

onPage("keys lead from rank to rank, and each is described", page, async (of) => {
  await of.getByRole("application").focus();
  assert.match(await line(of), /^Rank 0: pipeline stage 1 of 4/);
  await of.keyboard.press("ArrowDown");
  await of.keyboard.press("ArrowRight");
  assert.match(await line(of), /^Rank 9: pipeline stage 2 of 4/);
  await of.keyboard.press("PageDown");
  assert.match(await line(of), /^Rank 25: .*rank 24 stands for it/);
  assert.equal(await of.locator(".mark").getAttribute("x"), "150");
});

onPage("the pointer describes the cell below it", page, async (of) => {
  await of.mouse.move(...(await pointOf(of, 3, 7)));
  assert.match(await line(of), /^Rank 31: /);
  await of.mouse.move(...(await pointOf(of, 0, 0)));
  assert.match(await line(of), /^Rank 0: .*70\.00 GiB/);
});

onPage("only a rank that has a page leads to one", page, async (of) => {
  const link = of.getByRole("link", { name: "Open its page" });
  await of.mouse.move(...(await pointOf(of, 0, 1)));
  assert.equal(await link.count(), 0);
  await of.mouse.click(...(await pointOf(of, 0, 1)));
  assert.match(of.url(), /page\.html$/);
  await of.mouse.move(...(await pointOf(of, 0, 0)));
  assert.equal(await link.getAttribute("href"), "./rank-0.html");
});

for (const [where, setting] of Object.entries({
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a telephone": { viewport: { width: 360, height: 640 } },
} as Record<string, Setting>)) {
  onPage(
    `axe finds nothing in the ranks ${where}`,
    page,
    async (of) => {
      await of.getByRole("application").focus();
      await settled(of);
      assert.deepEqual(await violations(of), []);
    },
    setting,
  );
}
