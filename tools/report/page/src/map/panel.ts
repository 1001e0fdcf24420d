// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// All facts about one block.

import { element, say } from "../dom.ts";
import type { Fact, Frame } from "./block_facts.ts";

/** The most letters of a name; nobody reads more, and the report has them. */
const MOST_LETTERS = 500;

export class Panel {
  readonly box = element("div", { class: "block", role: "group" });
  private readonly list = element("dl");
  private readonly stack = element("ol", { class: "stack" });
  private terms = "";
  private frames: readonly Frame[] | undefined;

  constructor() {
    this.box.append(this.list, this.stack);
    this.hide();
  }

  hide(): void {
    this.box.hidden = true;
  }

  /** `frames` is the same object as long as the frames are the same. */
  show(name: string, facts: readonly Fact[], frames: readonly Frame[]): void {
    this.box.hidden = false;
    this.box.setAttribute("aria-label", name);
    this.showFacts(facts);
    if (frames !== this.frames) this.stack.replaceChildren(...frames.map(frameItem));
    this.frames = frames;
    this.stack.hidden = frames.length === 0;
  }

  /** Sets texts each time, but makes elements only for new terms: a moment only changes ages. */
  private showFacts(facts: readonly Fact[]): void {
    const terms = facts.map(([term]) => term).join();
    if (terms !== this.terms)
      this.list.replaceChildren(
        ...facts.flatMap(([term]) => [element("dt", { text: term }), element("dd")]),
      );
    this.terms = terms;
    for (const [i, cell] of [...this.list.querySelectorAll("dd")].entries())
      say(cell, facts[i]![1].slice(0, MOST_LETTERS));
  }
}

function frameItem({ name, isUser }: Frame): HTMLLIElement {
  const text = name.slice(0, MOST_LETTERS);
  return element("li", {}, [element(isUser ? "strong" : "span", { text })]);
}
