// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A page as a user sees it: opened from disk in Chromium, with the network off.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const CHROMIUM = process.env["MEMTRACE_CHROMIUM"] ?? "/usr/bin/chromium";
const MISSING =
  !existsSync(CHROMIUM) && `no Chromium at ${CHROMIUM}; MEMTRACE_CHROMIUM names another`;

/** A test's settings for its page: those of Playwright's contexts, and more. */
export interface Setting extends BrowserContextOptions {
  /** Called before the page is opened. */
  prepare?: (page: Page) => Promise<void>;
  /** The part of the address after '#'. */
  hash?: string;
  /** Forbidden actions of the page that the test causes itself. */
  faults?: string[];
}

/**
 * Tests the page whose path `made` returns. Besides the checks in `body`, it fails if the page
 * requests anything but itself, or prints on the console, where a browser reports errors and
 * violations of the policy.
 */
export function onPage(
  name: string,
  made: () => string,
  body: (page: Page) => Promise<void>,
  setting: Setting = {},
): void {
  test(name, { skip: MISSING, timeout: 60_000 }, async () => {
    const { prepare, hash, faults: expected = [], ...options } = setting;
    const context = await (await browser()).newContext(options);
    try {
      const page = await context.newPage();
      const url = pathToFileURL(made()).href;
      const faults = await faultsOf(page, url);
      await prepare?.(page);
      await page.goto(hash ? `${url}#${hash}` : url);
      await body(page);
      assert.deepEqual(faults, expected);
    } finally {
      await context.close();
    }
  });
}

/**
 * Waits until all pending changes are drawn: a view draws in the frame after a change. Pages
 * without scripts must not call it, because they have no frames to wait for.
 */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))),
  );
}

// Returns a list that gets an entry whenever the page does something forbidden.
async function faultsOf(page: Page, url: string): Promise<string[]> {
  const faults: string[] = [];
  page.on("console", (message) => faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on(
    "dialog",
    (dialog) => void (faults.push(`dialog: ${dialog.message()}`), dialog.dismiss()),
  );
  page.on("request", (request) => {
    if (request.url() !== url) faults.push(`request: ${request.url()}`);
  });
  await page.context().setOffline(true);
  await page.context().route(
    (asked) => asked.href !== url,
    (route) => route.abort(),
  );
  return faults;
}

let running: Promise<Browser> | undefined;

// Starts one browser for all tests of the process. Chromium's sandbox does not start for root.
function browser(): Promise<Browser> {
  running ??= chromium.launch({
    executablePath: CHROMIUM,
    chromiumSandbox: process.getuid?.() !== 0,
  });
  return running;
}

after(async () => (await running)?.close());
