// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// axe finds nothing: names, roles, contrasts, what a keyboard reaches.
import assert from "node:assert/strict";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { onPage, type Setting } from "./browser.ts";
import { golden, pageOf } from "./programs.ts";

// What is wrong, and where. By the debugger's protocol, since the page's policy lets nobody else bring a script.
async function violations(of: Page): Promise<string[]> {
  await of.locator("details").evaluateAll((all) => all.map((one) => one.setAttribute("open", "")));
  await of.evaluate(axe.source);
  const found = await of.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

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
