// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Where views stand.

import { element } from "./dom.ts";

/** A section, and what the view is put into. */
export function section(id: string, title: string): { section: HTMLElement; host: HTMLElement } {
  const host = element("div");
  const heading = element("h2", { id: `h-${id}`, text: title });
  const made = element("section", { id, class: "view", "aria-labelledby": heading.id }, [
    heading,
    host,
  ]);
  return { section: made, host };
}

/** Lets the browser show what there is. */
export const painted = (): Promise<unknown> =>
  new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
