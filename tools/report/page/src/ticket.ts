// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies the report as text to the clipboard.

import { translated } from "./messages.ts";

/** Puts a button above the text of `ticket`, and beside it a place that also announces the outcome. */
export function addCopyButton(ticket: HTMLElement): void {
  const text = ticket.querySelector("pre");
  if (!text) return;
  const outcome = document.createElement("span");
  outcome.role = "status";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = translated("Copy");
  button.addEventListener("click", () => void copy(text).then((words) => say(outcome, words)));
  const row = document.createElement("p");
  row.className = "copy";
  row.append(button, " ", outcome);
  text.before(row);
}

// A browser may refuse the clipboard, and has none for a page that came by plain HTTP.
async function copy(text: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(text.textContent);
    return translated("Copied");
  } catch {
    document.getSelection()?.selectAllChildren(text);
    return translated(
      "Not copied: the browser refused. The text is selected, so that you can copy it.",
    );
  }
}

// The same words again are announced only if the place was empty in between.
function say(outcome: HTMLElement, words: string): void {
  outcome.textContent = "";
  requestAnimationFrame(() => (outcome.textContent = words));
}
