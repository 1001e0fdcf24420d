// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page costs: the shell, the page of a long trace, when its pictures are there, and how many frames a
// second the memory map makes of 100,000 blocks.
//
// usage: page_views.ts BUILD [EVENTS]
// EVENTS: of the long trace (10,000,000). Of five openings the least: whatever else the machine does only adds.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium, type Page } from "playwright-core";

const [build = "build/dev", events = "10000000"] = process.argv.slice(2);
const OPENINGS = 5;
const SCRUB_MS = 4000;
const BLOCKS = 100_000;
const MIB = 2 ** 20;

const program = (name: string): string => resolve(build, name);
const here = mkdtempSync(join(tmpdir(), "memtrace-page-"));
const file = (name: string): string => join(here, name);
const mib = (path: string): string => `${(statSync(path).size / MIB).toFixed(2)} MiB`;

/** Seconds that the page took to make. */
function makePage(trace: string, page: string): string {
  const begun = performance.now();
  execFileSync(program("memtrace"), ["report", "-f", "-o", page, trace], { stdio: "ignore" });
  return ((performance.now() - begun) / 1000).toFixed(2);
}

/** Small blocks that all live, of which a tenth goes and comes again: twice as many lives as blocks. */
function blocksTrace(): string {
  const base = 0x7f0000000000;
  const bytes = 128 * 1024;
  const at = (i: number): string => `0x${(base + i * bytes).toString(16)}`;
  const allocate = (i: number): string =>
    `alloc 0 ${at(i)} requested=${bytes - (i % 7) * 512} allocated=${bytes} stack=f@train.py:${i % 50}`;
  const lines = [`map 0 0x${base.toString(16)} size=${BLOCKS * bytes}`];
  for (let i = 0; i < BLOCKS; ++i) lines.push(allocate(i));
  for (let i = 0; i < BLOCKS; ++i) {
    const again = (i * 10) % BLOCKS;
    lines.push(`free 0 ${at(again)}`, allocate(again));
  }
  return `${lines.join("\n")}\n`;
}

interface Times {
  readonly load: number;
  readonly words: number;
  readonly timeline: number;
  readonly views: number;
}

/** Milliseconds since the page was asked for. */
async function open(page: Page, path: string): Promise<Times> {
  await page.goto(pathToFileURL(path).href);
  await page.waitForFunction(() => performance.getEntriesByName("views").length > 0);
  return page.evaluate(() => {
    const at = (name: string): number => performance.getEntriesByName(name)[0]?.startTime ?? NaN;
    const [navigation] = performance.getEntriesByType("navigation");
    return {
      load: (navigation as PerformanceNavigationTiming).loadEventEnd,
      words: at("first-contentful-paint"),
      timeline: at("timeline"),
      views: at("views"),
    };
  });
}

/** Frames a second while the moment goes forward by one event a frame. */
async function scrub(page: Page): Promise<number> {
  await page.locator("#map").scrollIntoViewIfNeeded();
  return page.evaluate(async (span) => {
    const slider = document.querySelector<HTMLInputElement>("#map input[type=range]")!;
    const begun = performance.now();
    let frames = 0;
    slider.value = String(Number(slider.max) / 2);
    while (performance.now() - begun < span) {
      slider.value = String(Number(slider.value) + 1);
      slider.dispatchEvent(new Event("input"));
      await new Promise((done) => requestAnimationFrame(done));
      ++frames;
    }
    return frames / ((performance.now() - begun) / 1000);
  }, SCRUB_MS);
}

async function measure(page: Page): Promise<void> {
  writeFileSync(file("empty.trace.txt"), "map 0 0x7f0000000000 size=1MiB\n");
  execFileSync(program("tests/support/trace_text"), [file("empty.trace.txt"), file("empty.trace")]);
  makePage(file("empty.trace"), file("empty.html"));
  console.log(
    `shell: a page of one event, ${(statSync(file("empty.html")).size / 1024).toFixed(1)} KiB`,
  );

  spawnSync(program("bench/large_trace"), ["--events", events, file("long.trace")]);
  const seconds = makePage(file("long.trace"), file("long.html"));
  console.log(`${events} events: ${mib(file("long.html"))}, made in ${seconds} s`);
  const openings: Times[] = [];
  for (let i = 0; i < OPENINGS; ++i) openings.push(await open(page, file("long.html")));
  const least = (of: keyof Times): string =>
    Math.min(...openings.map((times) => times[of])).toFixed(0);
  console.log(
    `  opened, ms: words ${least("words")}, loaded ${least("load")}, ` +
      `timeline ${least("timeline")}, all views ${least("views")}`,
  );

  writeFileSync(file("blocks.trace.txt"), blocksTrace());
  execFileSync(program("tests/support/trace_text"), [
    file("blocks.trace.txt"),
    file("blocks.trace"),
  ]);
  makePage(file("blocks.trace"), file("blocks.html"));
  await open(page, file("blocks.html"));
  console.log(
    `scrubbing ${BLOCKS} living blocks: ${(await scrub(page)).toFixed(1)} frames a second`,
  );
}

const browser = await chromium.launch({
  executablePath: process.env["MEMTRACE_CHROMIUM"] ?? "/usr/bin/chromium",
  chromiumSandbox: process.getuid?.() !== 0,
});
try {
  await measure(await browser.newPage({ viewport: { width: 1200, height: 900 } }));
} finally {
  await browser.close();
  rmSync(here, { recursive: true });
}
