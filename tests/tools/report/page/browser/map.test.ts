// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory map with a keyboard, a mouse and axe.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { State, Store } from "#page/state.ts";
import { violations } from "./axe.ts";
import { onPage, settled, type Setting } from "./browser.ts";
import { viewPage } from "./views.ts";

const page = () => viewPage("map_page.ts");

async function press(of: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await of.keyboard.press(key);
}

/** Returns an element's text once the map has drawn. */
async function words(of: Page, selector: string): Promise<string> {
  await settled(of);
  return (await of.locator(selector).textContent()) ?? "";
}

const stateOf = (of: Page): Promise<State> =>
  of.evaluate(() => (globalThis as unknown as { store: Store }).store.state);

async function setState(of: Page, change: Partial<State>): Promise<void> {
  await of.evaluate((to) => (globalThis as unknown as { store: Store }).store.set(to), change);
  await settled(of);
}

/** Returns the colour of the canvas at a point, as red, green and blue. */
const pixel = (of: Page, x: number, y: number): Promise<number[]> =>
  of.locator("canvas").evaluate(
    (canvas, [left, top]) => {
      const context = (canvas as HTMLCanvasElement).getContext("2d")!;
      return [...context.getImageData(left!, top!, 1, 1).data].slice(0, 3);
    },
    [x, y],
  );

onPage("arrows go from block to block, Enter chooses, Escape leaves", page, async (of) => {
  await of.locator(".space").focus();
  await press(of, "ArrowRight", "ArrowRight");
  assert.match(await words(of, ".line"), /^activations, 512\.0 KiB at 0x100000/);
  await press(of, "PageDown");
  assert.match(await words(of, ".line"), /^activations, 1\.0 MiB at 0x400000/);
  await press(of, "Enter");
  assert.equal((await stateOf(of)).block, 3);
  assert.match(await words(of, ".block"), /waits for its stream until event 20/);
  await press(of, "Escape");
  assert.equal(await words(of, ".line"), "");
  assert.ok(await of.locator(".block").isHidden());
  assert.equal((await stateOf(of)).block, 0);
});

onPage("a click chooses a block and shows its facts, names as text", page, async (of) => {
  await of.locator("canvas").click({ position: { x: 5, y: 5 } });
  const told = await words(of, ".block");
  assert.match(told, /1,048,576 bytes \(1\.0 MiB\)/);
  assert.match(told, /Owner<b>model<\/b>/);
  assert.match(told, /never freed in this trace/);
  assert.equal(await of.locator(".stack strong").textContent(), "train.py:7 step");
  assert.equal(await of.locator(".chosen").count(), 2); // rows that the block takes
});

onPage("another moment is another picture", page, async (of) => {
  assert.match(await words(of, ".summary"), /^After event 10 .*1\.5 MiB in use, 1\.0 MiB waiting/);
  assert.deepEqual(await pixel(of, 5, 5), [47, 111, 222]); // a parameter's colour
  await of.getByLabel("Moment").fill("20");
  assert.match(
    await words(of, ".summary"),
    /1\.0 MiB in use, 3\.0 MiB in 2 holes, the largest 2\.0/,
  );
  const picture = await of.locator("canvas").getAttribute("aria-label");
  assert.match(picture ?? "", /^Memory map of card 0\. After event 20/);
});

onPage("buttons lead to events that change the map", page, async (of) => {
  const went = async (name: string): Promise<number> => {
    await of.getByRole("button", { name }).click();
    await settled(of);
    return (await stateOf(of)).event;
  };
  assert.equal(await went("next event"), 12);
  assert.equal(await went("previous event"), 10);
  assert.equal(await went("the peak"), 5);
  assert.ok(await of.locator(".request").isHidden());
  assert.equal(await went("the failure"), 10);
  assert.match(
    await words(of, ".request"),
    /rounded up: 3\.0 MiBthe largest hole: 1\.0 MiB.*No hole is large enough/,
  );
});

onPage("a block that another view chose is outlined and described", page, async (of) => {
  await setState(of, { block: 2 });
  assert.match(await words(of, ".block"), /free requested at event 12, 2\.0 ms later/);
  assert.ok((await of.locator(".chosen").count()) > 0);
  await setState(of, { event: 12 });
  assert.match(await words(of, ".block"), /free requested at event 12, this moment/);
  assert.equal(await of.locator(".chosen").count(), 0);
});

onPage("colours follow the scheme", page, async (of) => {
  const failedColour = () =>
    of
      .locator(".asked")
      .first()
      .evaluate((bar) => getComputedStyle(bar).fill);
  const light = await failedColour();
  await of.emulateMedia({ colorScheme: "dark" });
  await settled(of);
  assert.notEqual(await failedColour(), light);
  await setState(of, { event: 0 }); // before the first event: nothing is mapped
  await words(of, ".summary");
  assert.deepEqual(await pixel(of, 5, 5), [58, 66, 77]); // --line of the dark scheme
});

const settings: Record<string, Setting> = {
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a telephone": { viewport: { width: 360, height: 640 } },
};
for (const [where, setting] of Object.entries(settings)) {
  onPage(
    `axe finds nothing in the map ${where}`,
    page,
    async (of) => {
      await of.locator(".space").focus();
      await press(of, "ArrowDown", "Enter");
      await words(of, ".line");
      assert.deepEqual(await violations(of), []);
      const width = await of.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= (of.viewportSize()?.width ?? 0));
    },
    setting,
  );
}
