// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The flame graph and the treemap with a keyboard, a mouse and axe.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { Store } from "#page/state.ts";
import { violations } from "./axe.ts";
import { onPage, settled, type Setting } from "./browser.ts";
import { viewPage } from "./views.ts";

const page = () => viewPage("holders_page.ts");

async function press(of: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await of.keyboard.press(key);
}

/** Returns the text below the graph once it has drawn. */
async function line(of: Page): Promise<string> {
  await settled(of);
  return (await of.locator(".line").textContent()) ?? "";
}

const setEvent = (of: Page, event: number) =>
  of.evaluate((to) => (globalThis as unknown as { store: Store }).store.set({ event: to }), event);

onPage("arrows walk the tree, and the line describes the node", page, async (of) => {
  await of.locator(".graph").focus();
  await press(of, "ArrowDown", "ArrowDown", "ArrowDown");
  assert.equal(
    await line(of),
    "linear.py:3 forward: 60 bytes, 60 % of 100 bytes, 1 block, activations",
  );
  await press(of, "ArrowRight");
  assert.match(await line(of), /^adam.py:4 update: 30 bytes/);
  await press(of, "ArrowUp");
  assert.match(await line(of), /^train.py:2 step: 90 bytes/);
});

onPage("Enter zooms in, Escape zooms out, and a breadcrumb zooms to its node", page, async (of) => {
  const crumbs = of.locator(".crumbs");
  await of.locator(".graph").focus();
  await press(of, "ArrowDown", "ArrowDown", "Enter");
  await line(of);
  assert.equal(await crumbs.textContent(), "All in usemain.py:1 maintrain.py:2 step");
  await press(of, "Escape");
  await line(of);
  assert.ok(await crumbs.isHidden());
  await press(of, "Enter");
  await crumbs.getByRole("button", { name: "main.py:1 main" }).click();
  assert.match(await line(of), /^main.py:1 main: 90 bytes/);
  assert.ok(await of.locator(".graph").evaluate((graph) => graph === document.activeElement));
});

onPage("a click zooms into the box under the mouse", page, async (of) => {
  await of.locator("canvas").hover({ position: { x: 20, y: 70 } });
  assert.match(await line(of), /^linear.py:3 forward/);
  await of.locator("canvas").click({ position: { x: 20, y: 30 } });
  await line(of);
  assert.equal(await of.locator(".crumbs [aria-current]").textContent(), "main.py:1 main");
});

onPage("a search reports the bytes of its matches", page, async (of) => {
  await of.getByLabel("Search").fill("FORWARD");
  await line(of);
  assert.equal(await of.locator("output").textContent(), "2 matches, 70 bytes (70 % of 100 bytes)");
});

onPage("another moment, grouping and shape are another picture", page, async (of) => {
  const picture = () => of.locator("canvas").getAttribute("aria-label");
  assert.match((await picture()) ?? "", /^Flame graph by stack: 100 bytes in use on card 0/);
  await setEvent(of, 20);
  await of.getByLabel("by module").check();
  await of.getByLabel("treemap").check();
  await line(of);
  assert.match((await picture()) ?? "", /^Treemap by module: 130 bytes .* after event 20$/);
});

const settings: Record<string, Setting> = {
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a telephone": { viewport: { width: 360, height: 640 } },
};
for (const [where, setting] of Object.entries(settings)) {
  onPage(
    `axe finds nothing in the graph ${where}`,
    page,
    async (of) => {
      await of.locator(".graph").focus();
      await press(of, "ArrowDown", "Enter");
      await of.getByLabel("Search").fill("step");
      await line(of);
      assert.deepEqual(await violations(of), []);
      const width = await of.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= (of.viewportSize()?.width ?? 0));
    },
    setting,
  );
}
