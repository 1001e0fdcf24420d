// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Sections for the views.

import { element } from "./dom.ts";

/** Returns a section, and the element in it that receives the view. */
export function section(id: string, title: string): { section: HTMLElement; host: HTMLElement } {
  const host = element("div");
  const heading = element("h2", { id: `h-${id}`, text: title });
  const made = element("section", { id, class: "view", "aria-labelledby": heading.id }, [
    heading,
    host,
  ]);
  return { section: made, host };
}

/** Resolves after the browser has had time to paint. */
export const painted = (): Promise<unknown> =>
  new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
