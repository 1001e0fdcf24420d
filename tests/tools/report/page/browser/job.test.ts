// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The page of a folder with the traces of a job, made by the program.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { violations } from "./axe.ts";
import { onPage, settled, type Setting } from "./browser.ts";
import { jobPageOf } from "./programs.ts";

/** A rank of a job of 16 machines of 32 cards, which stands for one of four stages. */
function stage(number: number, mib: number): string {
  const groups = [
    { name: "pp", size: 4, at: number, first: 0, stride: 128 },
    { name: "<b>dp</b>", size: 128, at: 0, first: number * 128, stride: 1 },
  ];
  const quoted = JSON.stringify(groups).replaceAll('"', '\\"');
  return [
    `info environment.RANK ${number * 128}`,
    "info environment.WORLD_SIZE 512",
    "info environment.MEMTRACE_REAL_RANKS 0,128,256,384",
    "info simulated 1",
    `annotate job.groups "${quoted}"`,
    "annotate job.ranks_alike 128",
    "sample 0 total=1GiB free=1GiB",
    `map 0 0x7f0000000000 size=${mib}MiB`,
    "step 1",
    `alloc 0 0x7f0000000000 requested=${mib}MiB`,
    `relabel 0 0x7f0000000000 size=${mib}MiB role=parameter path=layers.${number}.weight`,
    "",
  ].join("\n");
}

const page = (): string =>
  jobPageOf({
    "rank-0.trace": stage(0, 900),
    "rank-128.trace": stage(1, 500),
    "rank-256.trace": stage(2, 400),
    "rank-384.trace": stage(3, 300),
  });

const line = async (of: Page): Promise<string> => {
  await settled(of);
  return (await of.locator("#ranks .line").textContent()) ?? "";
};

onPage("each of 512 ranks is described, and few elements draw them", page, async (of) => {
  await of.getByRole("application").focus();
  assert.match(
    await line(of),
    /^Rank 0: pipeline stage 1 of 4, .*900\.0 MiB of the card's 1\.00 GiB/,
  );
  await of.keyboard.press("ArrowDown");
  await of.keyboard.press("End");
  assert.match(await line(of), /^Rank 255: .*it was not started, rank 128 stands for it/);
  assert.ok((await of.locator("#ranks svg *").count()) < 200);
});

onPage("the ranks are listed in the contents, and names stay text", page, async (of) => {
  await of.locator("#contents a[href='#ranks']").waitFor();
  assert.equal(await of.locator("#ranks b").count(), 0);
  assert.match((await of.locator("#ranks figcaption").textContent()) ?? "", /'<b>dp<\/b>'/);
});

onPage(
  "without scripts the drawing and the tables are there",
  page,
  async (of) => {
    assert.ok(await of.locator("#ranks svg").first().isVisible());
    assert.match((await of.locator("#kinds").textContent()) ?? "", /pipeline stage 4 of 4/);
    assert.equal(await of.getByRole("application").count(), 0);
  },
  { javaScriptEnabled: false },
);

for (const [where, setting] of Object.entries({
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a telephone": { viewport: { width: 360, height: 640 } },
} as Record<string, Setting>)) {
  onPage(
    `axe finds nothing in the page of a job ${where}`,
    page,
    async (of) => {
      await of.getByRole("application").waitFor();
      assert.deepEqual(await violations(of), []);
      const wide = await of.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.ok(!wide, "the page scrolls sideways");
    },
    setting,
  );
}
