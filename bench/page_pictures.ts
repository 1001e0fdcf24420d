// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes pictures of pages as a reader of 1400 x 900 sees them first, and of one view if its hash is named.
//
// usage: page_pictures.ts FOLDER PAGE[#VIEW] ...
// "demo/page.html#holders" becomes FOLDER/page_holders.png.
import { mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [folder, ...pages] = process.argv.slice(2);
if (folder === undefined || pages.length === 0) {
  console.error("usage: page_pictures.ts FOLDER PAGE[#VIEW] ...");
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env["MEMTRACE_CHROMIUM"] ?? "/usr/bin/chromium",
});
const context = await browser.newContext({
  viewport: { width: 1400, height: 900 },
  offline: true,
});
for (const named of pages) {
  const [path = named, view] = named.split("#");
  const page = await context.newPage();
  await page.goto(pathToFileURL(resolve(path)).href + (view === undefined ? "" : `#${view}`));
  await page.waitForTimeout(500); // the views are drawn in the frames after the words
  const name = basename(path, ".html") + (view === undefined ? "" : `_${view}`);
  await page.screenshot({ path: join(folder, `${name}.png`), animations: "disabled" });
  console.log(join(folder, `${name}.png`));
  await page.close();
}
await browser.close();
