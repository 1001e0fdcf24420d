// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The controls above the graph.

import { button, drawn, element, say } from "../dom.ts";
import { translated } from "../messages.ts";
import { roleWords } from "../names.ts";
import { radios } from "../radios.ts";
import type { State, Store } from "../state.ts";
import { formatBytes } from "../text.ts";
import { MISSING_ROLE, nameOf, pathTo, ROOT } from "./outline.ts";
import type { Holdings, Tree } from "./tree.ts";
import { crumbsOf } from "./words.ts";

function searchField(store: Store): HTMLLabelElement {
  const input = element("input", { type: "search", spellcheck: "false", autocomplete: "off" });
  const update = ({ search }: State): void => {
    if (input.value !== search) input.value = search;
  };
  input.addEventListener("input", () => store.set({ search: input.value }));
  store.listen(update);
  update(store.state);
  return element("label", { class: "search" }, [translated("Search"), " ", input]);
}

export class Controls {
  readonly row: HTMLElement;
  private readonly outcome = element("output", { class: "note" });

  constructor(store: Store) {
    this.row = element("div", { class: "controls" }, [
      radios(store, {
        key: "tree",
        title: translated("Grouping"),
        name: "holders-tree",
        options: [
          ["stack", translated("by stack")],
          ["module", translated("by module")],
        ],
      }),
      radios(store, {
        key: "shape",
        title: translated("Shape"),
        name: "holders-shape",
        options: [
          ["flame", translated("flame")],
          ["treemap", translated("treemap")],
        ],
      }),
      searchField(store),
      this.outcome,
    ]);
  }

  /** Shows the result of the search. */
  tell(words: string): void {
    say(this.outcome, words);
  }
}

/** The path to the zoomed node, as buttons that zoom out. */
export class Crumbs {
  readonly nav: HTMLElement;
  private readonly zoom: (node: number) => void;
  private shown = "";

  /** `title` is the graph's. */
  constructor(title: string, zoom: (node: number) => void) {
    this.nav = element("nav", {
      class: "crumbs",
      "aria-label": translated("Path in the graph: $0", title),
    });
    this.zoom = zoom;
  }

  /** Changes nothing if the path is the same, so that the focus stays where it is. */
  show(tree: Tree, node: number): void {
    const path = pathTo(tree.outline, node);
    const names = path.map((at) => nameOf(tree.outline, at));
    const shown = JSON.stringify([path, names]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.nav.hidden = node === ROOT;
    this.nav.replaceChildren(
      ...crumbsOf(path).map((at) => (at === null ? "…" : this.crumb(tree, at, at === node))),
    );
  }

  private crumb(tree: Tree, node: number, isLast: boolean): HTMLElement {
    const text = nameOf(tree.outline, node);
    if (isLast) return element("bdi", { class: "place", "aria-current": "true", text });
    return button(text, () => this.zoom(node), { dir: "auto" });
  }
}

/** Returns the roles of the root's bytes, the largest first. */
export function legendOf({ outline: { roles }, bytesOfRole }: Holdings): HTMLLIElement[] {
  return roles
    .map((role, i) => ({ role, bytes: bytesOfRole[i]! }))
    .filter(({ bytes }) => bytes > 0)
    .sort((a, b) => b.bytes - a.bytes)
    .map(({ role, bytes }) => {
      const words = role === MISSING_ROLE ? translated("too small to be listed") : roleWords(role);
      return legendEntry(role, `${words} ${formatBytes(bytes)}`);
    });
}

/** Returns a patch of the class k-<colour> with its meaning. */
export function legendEntry(colour: string, words: string): HTMLLIElement {
  const patch = drawn("rect", { class: `k-${colour}`, width: 12, height: 12 });
  const swatch = drawn("svg", { viewBox: "0 0 12 12", "aria-hidden": "true" }, [patch]);
  return element("li", {}, [swatch, ` ${words}`]);
}
