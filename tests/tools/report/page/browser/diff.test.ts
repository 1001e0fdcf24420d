// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The page of a comparison, made by the program.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { violations } from "./axe.ts";
import { onPage, settled } from "./browser.ts";
import { diffPageOf, fileText, momentsPageOf } from "./programs.ts";
import { trainingTrace } from "./training.ts";

/** Returns a run with larger activations, whose script also has more lines above those of the other. */
const later = (): string =>
  trainingTrace().replaceAll("train.py:40", "train.py:44").replaceAll("=60MiB", "=90MiB");
const page = (): string => diffPageOf(trainingTrace(), later());
const moments = (): string => momentsPageOf(trainingTrace(), "step:1", "oom");

/** Waits until all views exist. */
async function drawn(of: Page): Promise<void> {
  await of.locator("#flame-after canvas").waitFor();
  await settled(of);
}

async function textOf(of: Page, where: string): Promise<string> {
  await settled(of);
  return (await of.locator(where).first().textContent()) ?? "";
}

onPage("the change is drawn at the moments that the words are about", page, async (of) => {
  await drawn(of);
  assert.match(
    await textOf(of, "#change .line"),
    /^All in use: \+180\.0 MiB \(6\.5 % more\): 2\.70 GiB in 30 blocks before, 2\.87 GiB/,
  );
  assert.match(
    await textOf(of, "#change .legend"),
    /grew by 180\.0 MiB.*nothing shrank.*2\.70 GiB/,
  );
  const picture = await of.locator("#change canvas").getAttribute("aria-label");
  assert.match(picture ?? "", /^Flame graph by module: the change from /);
});

onPage("no id is there twice", page, async (of) => {
  await drawn(of);
  const ids = await of.locator("[id]").evaluateAll((all) => all.map(({ id }) => id));
  assert.equal(new Set(ids).size, ids.length);
});

onPage(
  "stacks are compared though lines moved",
  page,
  async (of) => {
    await drawn(of);
    await of.locator("#change .graph").focus();
    await of.keyboard.press("ArrowDown");
    await of.waitForFunction(() =>
      document.querySelector("#change .line")?.textContent?.startsWith("train.py <module>: +180"),
    );
    await of.keyboard.press("Enter");
    await of.locator("#change .crumbs [aria-current]").waitFor();
  },
  { hash: "tree=stack" },
);

onPage("a choice on one side also applies to the other", page, async (of) => {
  await drawn(of);
  await of.locator("#change").getByRole("searchbox").fill("layers.3");
  await of.waitForFunction(() => document.querySelector("#change output")?.textContent !== "");
  assert.match(
    await textOf(of, "#change output"),
    /^1 match, 460\.0 MiB before, 490\.0 MiB after \(\+30\.0 MiB\)$/,
  );
  assert.match(await textOf(of, "#flame-after output"), /^1 match, 490\.0 MiB/);
  await of.locator("#timeline-after").getByRole("radio", { name: "by owner" }).check();
  await settled(of);
  assert.ok(
    await of.locator("#timeline-before").getByRole("radio", { name: "by owner" }).isChecked(),
  );
});

onPage(
  "a link has both moments, and the address follows them",
  page,
  async (of) => {
    await drawn(of);
    assert.match(await textOf(of, "#timeline-before .line"), /^event 20 /);
    assert.match(await textOf(of, "#timeline-after .line"), /^event 30 /);
    assert.match(await textOf(of, "#change p.note"), /after event 20 .*after event 30 /);
    await of.locator("#timeline-after [role=application]").focus();
    await of.keyboard.press("Home");
    await of.waitForURL(/#a\.t=20&by=owner&b\.t=1$/);
    await of.evaluate(() => void (location.hash = "a.t=25&b.t=35"));
    await of.waitForFunction(() =>
      document.querySelector("#timeline-after .line")?.textContent?.startsWith("event 35 "),
    );
  },
  { hash: "a.t=20&b.t=30&by=owner" },
);

onPage("two moments of one run have its data once, and its lines", moments, async (of) => {
  await drawn(of);
  assert.equal(await of.locator("template").count(), 1);
  for (const side of ["before", "after"])
    assert.ok(await of.locator(`#timeline-${side} .moment.other`).isVisible());
  assert.match(await textOf(of, "#change .line"), /600\.0 MiB in 6 blocks before/);
});

onPage(
  "without scripts the words and the pictures are there, and no view",
  page,
  async (of) => {
    assert.equal(await of.locator("figure.usage svg[role=img]").count(), 2);
    assert.equal(await of.locator(".view").count(), 0);
    assert.match((await of.locator("main").textContent()) ?? "", /WHAT CHANGED/);
  },
  { javaScriptEnabled: false },
);

onPage(
  "texts of two traces are not executed",
  () => {
    const hostile = fileText("tests/tools/report/page/hostile.trace.txt");
    return diffPageOf(hostile, hostile.replace("900MiB", "800MiB"));
  },
  async (of) => {
    await drawn(of);
    assert.equal(await of.evaluate(() => "executed" in window), false);
    assert.equal(await of.locator("img, a, iframe, b, main script").count(), 0);
  },
);

for (const [where, setting] of Object.entries({
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a telephone": { viewport: { width: 360, height: 640 } },
} as const)) {
  onPage(
    `axe finds nothing in a comparison ${where}`,
    page,
    async (of) => {
      await drawn(of);
      await of.locator("#change .graph").focus();
      for (const key of ["ArrowDown", "Enter"]) await of.keyboard.press(key);
      assert.deepEqual(await violations(of), []);
      const wide = await of.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!wide, "the page scrolls sideways");
    },
    setting,
  );
}
