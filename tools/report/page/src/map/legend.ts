// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The meaning of the visible colours, and the bytes of each.

import { drawn, element, say } from "../dom.ts";
import { formatBytes } from "../text.ts";

export interface Entry {
  readonly name: string;
  readonly colour: string; // the class k-<colour>
}

/** Entries keep their places while time moves. */
export class Legend {
  readonly list = element("ul", { class: "legend" });
  private readonly items: { item: HTMLLIElement; figure: HTMLElement }[] = [];
  private shown: readonly Entry[] = [];

  show(entries: readonly Entry[], bytes: Float64Array): void {
    if (entries !== this.shown) this.make(entries);
    for (const [i, { item, figure }] of this.items.entries()) {
      item.hidden = bytes[i] === 0;
      say(figure, formatBytes(bytes[i]!));
    }
  }

  private make(entries: readonly Entry[]): void {
    this.shown = entries;
    this.items.length = 0;
    for (const { name, colour } of entries) {
      const figure = element("span");
      const patch = drawn("rect", { class: `k-${colour}`, width: 12, height: 12 });
      const drawing = drawn("svg", { viewBox: "0 0 12 12", "aria-hidden": true }, [patch]);
      const words = element("bdi", { text: name });
      const item = element("li", {}, [drawing, " ", words, " ", figure]);
      this.items.push({ item, figure });
    }
    this.list.replaceChildren(...this.items.map(({ item }) => item));
  }
}
