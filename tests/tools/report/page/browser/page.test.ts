// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole page, made by the program.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { violations } from "./axe.ts";
import { onPage, settled } from "./browser.ts";
import { pageOf } from "./programs.ts";
import { trainingTrace } from "./training.ts";

const page = (): string => pageOf(trainingTrace());

/** Waits until all views exist. */
async function drawn(of: Page): Promise<void> {
  await of.locator("#map canvas").waitFor();
  await settled(of);
}

async function lineOf(of: Page): Promise<string> {
  await settled(of);
  return (await of.locator("#timeline .line").textContent()) ?? "";
}

const whole = "Whole run";

onPage("the views begin at the moment that the words are about", page, async (of) => {
  await drawn(of);
  assert.match(await lineOf(of), /step 2, forward: 2\.70 GiB in use, 3\.71 GiB reserved$/);
  assert.match((await of.locator("#map .summary").textContent()) ?? "", /the largest 680\.0 MiB/);
  assert.match((await of.locator("#flame .line").textContent()) ?? "", /2\.70 GiB/);
  assert.ok(await of.locator("figure.usage").isHidden());
});

onPage("keys move the moment and zoom, and the address follows", page, async (of) => {
  await drawn(of);
  await of.locator("#timeline [role=application]").focus();
  await of.keyboard.press("Home");
  assert.match(await lineOf(of), /^event 1 /);
  await of.keyboard.press("+");
  await of.keyboard.press("+");
  await of.waitForURL(/#t=1&to=\d+$/);
  assert.match(
    (await of.locator("#timeline figcaption").textContent()) ?? "",
    /events 1 to \d+ of/,
  );
  await of.keyboard.press("0");
  await of.waitForURL(/#t=1$/);
});

onPage("dragging zooms, a click chooses the moment", page, async (of) => {
  await drawn(of);
  await of.locator("#timeline .u-over").scrollIntoViewIfNeeded();
  const over = await of.locator("#timeline .u-over").boundingBox();
  assert.ok(over);
  const y = over.y + over.height / 2;
  await of.mouse.move(over.x + over.width * 0.25, y);
  await of.mouse.down();
  await of.mouse.move(over.x + over.width * 0.5, y, { steps: 4 });
  await of.mouse.up();
  await of.waitForURL(/#t=\d+&from=\d+&to=\d+$|#from=\d+&to=\d+$/);
  await of.mouse.click(over.x + over.width / 2, y);
  await of.waitForURL(/#t=\d+&from=\d+&to=\d+$/);
  const { from, to, t } = Object.fromEntries(new URLSearchParams(new URL(of.url()).hash.slice(1)));
  assert.ok(Math.abs(Number(t) - (Number(from) + Number(to)) / 2) <= 1, of.url());
  await of.getByRole("button", { name: whole }).click();
  await of.waitForURL(/#t=\d+$/);
});

onPage(
  "a link restores the view that it was made from",
  page,
  async (of) => {
    await drawn(of);
    assert.ok(await of.getByRole("radio", { name: "by owner" }).isChecked());
    assert.ok(await of.getByRole("radio", { name: "treemap" }).isChecked());
    assert.equal(await of.getByRole("searchbox").inputValue(), "model");
    assert.match(await lineOf(of), /^event 20 /);
    assert.match((await of.locator("#timeline .legend").first().textContent()) ?? "", /policy/);
    await of.evaluate(() => void (location.hash = "oom=1"));
    await of.waitForFunction(() =>
      document.querySelector("#timeline .line")?.textContent?.includes("step 2"),
    );
  },
  { hash: "t=20&by=owner&shape=treemap&q=model" },
);

onPage(
  "a link to a section shows that section",
  page,
  async (of) => {
    await drawn(of);
    assert.match(await lineOf(of), /step 2/);
    assert.ok(of.url().endsWith("#holders"));
  },
  { hash: "holders" },
);

onPage(
  "without scripts the picture is there, and no view",
  page,
  async (of) => {
    assert.ok(await of.locator("figure.usage svg").first().isVisible());
    assert.equal(await of.locator(".view").count(), 0);
  },
  { javaScriptEnabled: false },
);

onPage("paper gets the picture, and no view", page, async (of) => {
  await drawn(of);
  await of.emulateMedia({ media: "print" });
  assert.ok(await of.locator("figure.usage svg").first().isVisible());
  assert.ok(await of.locator("#timeline").isHidden());
  assert.ok(await of.locator("#map").isHidden());
});

onPage(
  "data that are damaged cost the views and no word",
  () => pageOf(trainingTrace(), cut),
  async (of) => {
    const alert = of.getByRole("alert");
    await alert.waitFor();
    assert.match((await alert.textContent()) ?? "", /The text of the page is complete\.$/);
    assert.ok(await of.locator("figure.usage svg").first().isVisible());
  },
);

/** Removes half of the data. */
const cut = (html: string): string =>
  html.replace(/(<template id="data">)([^<]*)/, (_, tag: string, data: string) => {
    return tag + data.slice(0, data.length >> 1);
  });

for (const [where, setting] of Object.entries({
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a telephone": { viewport: { width: 360, height: 640 } },
} as const)) {
  onPage(
    `axe finds nothing in the views ${where}`,
    page,
    async (of) => {
      await drawn(of);
      assert.deepEqual(await violations(of), []);
      const wide = await of.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!wide, "the page scrolls sideways");
    },
    setting,
  );
}
