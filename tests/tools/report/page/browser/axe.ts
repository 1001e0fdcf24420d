// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Returns the violations that axe finds in a page.
import axe from "axe-core";
import type { Page } from "playwright-core";

/**
 * Returns violations and their places. Uses the debugger's protocol, because the page's policy
 * forbids other scripts.
 */
export async function violations(of: Page): Promise<string[]> {
  await of.locator("details").evaluateAll((all) => all.map((one) => one.setAttribute("open", "")));
  await of.evaluate(axe.source);
  const found = await of.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return found.violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
