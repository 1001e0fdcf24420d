// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { onPage } from "./browser.ts";
import { golden, pageOf } from "./programs.ts";

const page = () => pageOf(golden("fragmentation"));

const ticketText = (of: Page) => of.locator("#ticket pre").textContent();
const says = (of: Page, words: string) =>
  of.getByRole("status").filter({ hasText: words }).waitFor();

onPage(
  "the button copies the ticket and reports it",
  page,
  async (of) => {
    await of.getByText("As text, for a ticket").click();
    await of.getByRole("button", { name: "Copy" }).click();
    await says(of, "Copied");
    const copied = await of.evaluate(() => navigator.clipboard.readText());
    assert.equal(copied, await ticketText(of));
    assert.match(copied, /^```\n.*OUT OF MEMORY.*\n```$/s);
  },
  { permissions: ["clipboard-read", "clipboard-write"] },
);

onPage(
  "the keyboard alone opens the ticket and copies it",
  page,
  async (of) => {
    await of.locator("#ticket summary").focus();
    await of.keyboard.press("Enter");
    await of.keyboard.press("Tab");
    await of.keyboard.press("Space");
    await says(of, "Copied");
  },
  { permissions: ["clipboard-read", "clipboard-write"] },
);

onPage(
  "the text is selected if the clipboard is refused",
  page,
  async (of) => {
    await of.getByText("As text, for a ticket").click();
    await of.getByRole("button", { name: "Copy" }).click();
    await says(of, "Not copied");
    const selected = await of.evaluate(() => document.getSelection()?.toString());
    assert.equal(selected?.trim(), (await ticketText(of))?.trim());
  },
  {
    prepare: async (of) => {
      await of.addInitScript(() =>
        Object.defineProperty(navigator, "clipboard", { value: undefined }),
      );
    },
  },
);
