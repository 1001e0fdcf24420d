// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages of other people's torch snapshots: they open, draw all views, and log nothing on the
// console.
import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { onPage, settled } from "./browser.ts";
import { filePath, pageOfFile } from "./programs.ts";

const FOLDER = join(process.env["MEMTRACE_CORPUS"] ?? filePath("../shared"), "snapshots");
const files = existsSync(FOLDER)
  ? readdirSync(FOLDER).filter((name) => /\.(pickle|pkl)$/.test(name))
  : [];

if (files.length === 0) test("pages of snapshots", { skip: `no snapshots at ${FOLDER}` }, () => {});

for (const name of files) {
  onPage(
    `the page of ${name} draws all views`,
    () => pageOfFile(join(FOLDER, name)),
    async (of) => {
      await of.locator("#map canvas").waitFor();
      await settled(of);
      assert.match((await of.locator("#timeline .line").textContent()) ?? "", / in use/);
    },
  );
}
