// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The links to the sections, which stay at the top of the page.
import { element } from "./dom.ts";

/** Lists all sections with a title in their order, with the views that a script has added. */
export function listAllSections(): void {
  const list = document.querySelector("#contents ul");
  if (list === null) return;
  const links: Element[] = [];
  for (const title of document.querySelectorAll("main section[id] > h2")) {
    const name = title.firstChild?.textContent?.trim();
    const section = title.closest("section");
    if (!name || section === null) continue;
    const item = element("li");
    item.append(element("a", { href: `#${section.id}`, text: name }));
    links.push(item);
  }
  list.replaceChildren(...links);
}
