// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What axe finds wrong in a page.
import axe from "axe-core";
import type { Page } from "playwright-core";

/** What is wrong, and where. By the debugger's protocol, since the page's policy lets nobody else bring a script. */
export async function violations(of: Page): Promise<string[]> {
  await of.locator("details").evaluateAll((all) => all.map((one) => one.setAttribute("open", "")));
  await of.evaluate(axe.source);
  const found = await of.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
