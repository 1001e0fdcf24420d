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

/** How a test wants its page: what Playwright's contexts know, and: */
export interface Setting extends BrowserContextOptions {
  /** what happens before it is opened */
  prepare?: (page: Page) => Promise<void>;
  /** the part of the address behind '#' */
  hash?: string;
  /** what it does that a page must not, since the test makes it */
  faults?: string[];
}

/**
 * A test of the page that `made` returns the path of. Whatever `body` finds, it fails, too, if the page asks for anything
 * but itself, or says anything on the console, where a browser reports errors and what the policy forbade.
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
 * Until everything is drawn that what happened so far asks for: a view draws in the frame after a change.
 * Never without scripts: a page then has no frames to wait for. */
export async function settled(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(null)))),
  );
}

// A list that grows while the page does what it must not.
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

// One a file of tests. Chromium's sandbox does not start for root.
function browser(): Promise<Browser> {
  running ??= chromium.launch({
    executablePath: CHROMIUM,
    chromiumSandbox: process.getuid?.() !== 0,
  });
  return running;
}

after(async () => (await running)?.close());
