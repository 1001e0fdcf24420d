// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The frontier of fit with a keyboard, a mouse and axe.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { violations } from "./axe.ts";
import { onPage, settled, type Setting } from "./browser.ts";
import { viewPage } from "./views.ts";

const page = () => viewPage("frontier_page.ts");
const line = async (of: Page): Promise<string> => {
  await settled(of);
  return (await of.locator(".line").textContent()) ?? "";
};

onPage("keys lead from run to run, and each is described", page, async (of) => {
  await of.getByRole("application").focus();
  assert.match(await line(of), /needs 40\.00 GiB/);
  await of.keyboard.press("ArrowRight");
  assert.match(await line(of), /^gradient checkpointing of 9 of 32 layers/);
  await of.keyboard.press("End");
  assert.match(await line(of), /^unchanged/);
  assert.equal(await of.locator(".mark").getAttribute("cx"), "900");
});

onPage("the pointer describes the nearest run", page, async (of) => {
  const box = await of.locator("figure.frontier svg").boundingBox();
  assert.ok(box);
  await of.mouse.move(box.x + box.width * 0.52, box.y + box.height * 0.5);
  assert.match(await line(of), /9 of 32 layers/);
});

for (const [where, setting] of Object.entries({
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a telephone": { viewport: { width: 360, height: 640 } },
} as Record<string, Setting>)) {
  onPage(
    `axe finds nothing in the frontier ${where}`,
    page,
    async (of) => {
      await of.getByRole("application").focus();
      await settled(of);
      assert.deepEqual(await violations(of), []);
    },
    setting,
  );
}
