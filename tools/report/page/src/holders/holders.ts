// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A graph with its controls: a flame graph or a treemap, by stack or by module.

import { element, say, uniqueId } from "../dom.ts";
import { oncePerFrame } from "../frames.ts";
import { counted, translated } from "../messages.ts";
import type { State, Store } from "../state.ts";
import { formatCount } from "../text.ts";
import type { Account, Subject } from "./account.ts";
import { Controls, Crumbs } from "./controls.ts";
import { Graph } from "./graph.ts";
import type { Outline } from "./outline.ts";
import { moved, Place } from "./place.ts";
import { find, type Found, matchingNames } from "./search.ts";
import type { Tree } from "./tree.ts";
import { wholeName } from "./words.ts";

const KEYS = translated(
  "Arrow keys move to the box below, above or beside. Enter or a click zooms in, Escape zooms out. " +
    "The names of your own code are bold.",
);

export class HoldersView {
  private readonly subject: Subject;
  private readonly store: Store;
  private readonly controls: Controls;
  private readonly crumbs: Crumbs;
  private readonly keys = element("p", {
    class: "note",
    id: uniqueId("holders-keys"),
    text: KEYS,
  });
  private readonly box = element("div", {
    class: "graph",
    tabindex: 0,
    role: "application",
    "aria-describedby": this.keys.id,
  });
  private readonly graph = new Graph(this.box);
  private readonly line = element("p", { class: "line", "aria-live": "off" });
  private readonly legend = element("ul", { class: "legend" });
  private readonly note = element("p", { class: "note" });
  private readonly redraw = oncePerFrame(() => this.draw());
  private readonly outlines = new Map<State["tree"], Outline>();
  private readonly place = new Place();
  private account: Account | undefined;
  private names: { text: string; outline: Outline; matching: Uint8Array } | undefined;

  constructor(host: HTMLElement, subject: Subject) {
    this.subject = subject;
    this.store = subject.stores[0];
    this.controls = new Controls(this.store);
    this.crumbs = new Crumbs(subject.title, (node) => this.zoomTo(node));
    this.box.setAttribute("aria-label", translated("Graph: $0", subject.title));
    host.classList.add("holders");
    host.append(this.controls.row, this.crumbs.nav, this.box, this.line);
    host.append(this.legend, this.note, this.keys);
    for (const store of subject.stores)
      store.listen((state, before) => this.onState(state, before));
    this.listen();
    this.draw();
  }

  private listen(): void {
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.box.addEventListener("pointermove", (event) => this.onHover(event));
    this.box.addEventListener("pointerleave", () => this.hover(-1));
    this.box.addEventListener("click", (event) => this.onClick(event));
    this.box.addEventListener("focus", () => this.onFocus(true));
    this.box.addEventListener("blur", () => this.onFocus(false));
  }

  private onState(state: State, before: State): void {
    const keys = ["card", "event", "tree", "shape", "search"] as const;
    if (keys.every((key) => state[key] === before[key])) return;
    if (state.tree !== before.tree) this.place.reset();
    this.redraw();
  }

  private onKey(event: KeyboardEvent): void {
    const tree = this.account?.tree;
    if (!tree || event.altKey || event.ctrlKey || event.metaKey) return;
    const focused = this.place.focused(tree);
    const to = moved(tree, this.place.root(tree), focused, event.key);
    if (to !== undefined) this.focus(to);
    else if (event.key === "Enter") this.zoomTo(focused);
    else if (event.key !== "Escape" && event.key !== "Backspace") return;
    else if (!this.place.zoomOut()) return;
    else this.redraw();
    event.preventDefault();
  }

  private onHover({ clientX, clientY }: PointerEvent): void {
    this.hover(this.graph.nodeAt(clientX, clientY));
  }

  private onClick({ clientX, clientY }: MouseEvent): void {
    const node = this.graph.nodeAt(clientX, clientY);
    if (node >= 0) this.zoomTo(node);
  }

  /** Changes are not read aloud while something else has the focus. */
  private onFocus(isHere: boolean): void {
    this.line.setAttribute("aria-live", isHere ? "polite" : "off");
    this.mark();
  }

  private focus(node: number): void {
    this.place.focus(node);
    this.mark();
  }

  private hover(node: number): void {
    if (this.place.hover(node)) this.mark();
  }

  private zoomTo(node: number): void {
    this.place.zoomTo(node);
    this.box.focus({ preventScroll: true }); // the breadcrumb that had the focus goes
    this.redraw();
  }

  private draw(): void {
    const { state } = this.store;
    const account = this.subject.accountOf(this.outline(state.tree));
    if (!account) return;
    this.account = account;
    const { tree } = account;
    const found = this.found(tree, state.search);
    const root = this.place.root(tree);
    this.graph.show({ account, root, shape: state.shape, found });
    this.crumbs.show(tree, root);
    this.tell(account, found);
    this.mark();
  }

  private outline(by: State["tree"]): Outline {
    let outline = this.outlines.get(by);
    if (!outline) this.outlines.set(by, (outline = this.subject.outlineBy(by)));
    return outline;
  }

  /** Returns undefined without a search text. */
  private found(tree: Tree, text: string): Found | undefined {
    const { outline } = tree;
    if (text.trim() === "") return undefined;
    if (this.names?.text !== text || this.names.outline !== outline)
      this.names = { text, outline, matching: matchingNames(outline, text) };
    return find(tree, this.names.matching);
  }

  private tell(account: Account, found: Found | undefined): void {
    this.graph.canvas.setAttribute("aria-label", account.picture);
    this.controls.tell(found ? account.searchWords(found) + this.elsewhere(found) : "");
    this.legend.replaceChildren(...account.legend());
    say(this.note, account.note);
  }

  /** Says how many matches the other grouping has if this one has none. */
  private elsewhere(found: Found): string {
    if (found.matches > 0) return "";
    const { tree, search } = this.store.state;
    const isByStack = tree === "stack";
    const other = this.subject.accountOf(this.outline(isByStack ? "module" : "stack"));
    if (!other) return "";
    const { matches } = find(other.tree, matchingNames(other.tree.outline, search));
    if (matches === 0) return "";
    const count = formatCount(matches);
    return isByStack
      ? counted(matches, "; 1 match by module", "; $0 matches by module", count)
      : counted(matches, "; 1 match by stack", "; $0 matches by stack", count);
  }

  private mark(): void {
    if (!this.account) return;
    const { tree } = this.account;
    const { hovered } = this.place;
    const focused = this.place.focused(tree);
    const hasFocus = document.activeElement === this.box;
    this.graph.mark({ focused: hasFocus ? focused : -1, hovered });
    this.describe(this.account, hovered >= 0 ? hovered : focused);
  }

  private describe(account: Account, node: number): void {
    const name = element("bdi", { class: "place", text: wholeName(account.tree, node) });
    this.line.replaceChildren(name, translated(": $0", account.wordsOf(node)));
  }
}
