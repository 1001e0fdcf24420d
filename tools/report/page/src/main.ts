// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page does beyond its words, which are all there without a script.
import { openRun } from "./data/open.ts";
import { element } from "./dom.ts";
import { addCopyButton } from "./ticket.ts";
import { addViews } from "./views.ts";

const ticket = document.getElementById("ticket");
if (ticket) addCopyButton(ticket);

const data = document.querySelector<HTMLTemplateElement>("template#data");
const picture = document.querySelector("figure.usage");
if (data && picture && ticket) {
  openRun(data.content.textContent ?? "")
    .then((run) => addViews(run, picture, ticket))
    .catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      const words = `The interactive views cannot be shown: ${why}. The words are complete.`;
      picture.after(element("p", { class: "note", role: "alert", text: words }));
    });
}
