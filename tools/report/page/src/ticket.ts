// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The report as text, into the clipboard.

/** Puts a button above the text of `ticket` and a place beside it that says, aloud too, what came of it. */
export function addCopyButton(ticket: HTMLElement): void {
  const text = ticket.querySelector("pre");
  if (!text) return;
  const outcome = document.createElement("span");
  outcome.role = "status";
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copy(text).then((words) => say(outcome, words)));
  const row = document.createElement("p");
  row.className = "copy";
  row.append(button, " ", outcome);
  text.before(row);
}

// A browser may refuse the clipboard, and has none in a page that came by plain HTTP.
async function copy(text: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(text.textContent);
    return "Copied";
  } catch {
    document.getSelection()?.selectAllChildren(text);
    return "Not copied: the browser refused. The text is selected for you to copy.";
  }
}

// The same words a second time are a change only if nothing stood there between.
function say(outcome: HTMLElement, words: string): void {
  outcome.textContent = "";
  requestAnimationFrame(() => (outcome.textContent = words));
}
