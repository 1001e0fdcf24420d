// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// axe finds no violation in names, roles, contrasts, and keyboard access.
import assert from "node:assert/strict";
import { violations } from "./axe.ts";
import { onPage, type Setting } from "./browser.ts";
import { golden, pageOf } from "./programs.ts";

const settings: Record<string, Setting> = {
  "in light": { colorScheme: "light" },
  "in dark": { colorScheme: "dark" },
  "on a telephone": { viewport: { width: 360, height: 640 } },
};
for (const [where, setting] of Object.entries(settings)) {
  for (const name of ["fits", "fragmentation", "steps", "hostile_text"]) {
    onPage(
      `axe finds nothing in ${name} ${where}`,
      () => pageOf(golden(name)),
      async (of) => assert.deepEqual(await violations(of), []),
      setting,
    );
  }
}
