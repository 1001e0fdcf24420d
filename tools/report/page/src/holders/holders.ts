// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Who holds what is in use at the moment: a flame graph or a treemap, by stack or by module.

import { element, say } from "../dom.ts";
import { oncePerFrame } from "../frames.ts";
import type { Run } from "../model.ts";
import type { State, Store } from "../state.ts";
import { Controls, Crumbs, legendOf } from "./controls.ts";
import { Graph } from "./graph.ts";
import { isBelow, moved } from "./navigation.ts";
import { nameOf, type Outline, outlineOf, ROOT } from "./outline.ts";
import { find, type Found, matchingNames } from "./search.ts";
import { type Moment, nearestHeld, type Tree, treeAt } from "./tree.ts";
import { figuresOf, missingWords, pictureWords, searchWords } from "./words.ts";

/** Bytes in use on a card after an event that are no piece. */
export type Missing = (card: number, event: number) => number;

const KEYS =
  "Arrow keys go to what is below, above and beside; Enter zooms in, Escape zooms out. " +
  "Bold names are your own code.";

export class HoldersView {
  private readonly run: Run;
  private readonly store: Store;
  private readonly missing: Missing;
  private readonly controls: Controls;
  private readonly crumbs: Crumbs;
  private readonly graph: Graph;
  private readonly box: HTMLElement;
  private readonly line = element("p", { class: "line", "aria-live": "polite" });
  private readonly note = element("p", { class: "note" });
  private readonly legend = element("ul", { class: "legend" });
  private readonly outlines = new Map<State["tree"], Outline>();
  private readonly redraw = oncePerFrame(() => this.draw());
  private tree: Tree | undefined;
  private names: { text: string; outline: Outline; matching: Uint8Array } | undefined;
  private zooms: number[] = [ROOT]; // Escape goes back through them
  private focused = ROOT;
  private hovered = -1;

  constructor(host: HTMLElement, run: Run, store: Store, missing: Missing = () => 0) {
    this.run = run;
    this.store = store;
    this.missing = missing;
    this.controls = new Controls(store);
    this.crumbs = new Crumbs((node) => this.zoomTo(node));
    const keys = element("p", { class: "note", id: "holders-keys", text: KEYS });
    this.box = element("div", {
      class: "graph",
      tabindex: 0,
      role: "application",
      "aria-label": "Graph of what holds memory",
      "aria-describedby": keys.id,
    });
    host.classList.add("holders");
    host.append(this.controls.row, this.crumbs.nav, this.box, this.line);
    host.append(this.legend, this.note, keys);
    this.graph = new Graph(this.box);
    this.listen();
    this.draw();
  }

  private listen(): void {
    this.store.listen((state, before) => this.onState(state, before));
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.box.addEventListener("pointermove", (event) => this.onHover(event));
    this.box.addEventListener("pointerleave", () => this.hover(-1));
    this.box.addEventListener("click", (event) => this.onClick(event));
  }

  private onState(state: State, before: State): void {
    const keys = ["card", "event", "tree", "shape", "search"] as const;
    if (keys.every((key) => state[key] === before[key])) return;
    if (state.tree !== before.tree) {
      this.zooms = [ROOT];
      this.focused = ROOT;
      this.hovered = -1;
    }
    this.redraw();
  }

  private onKey(event: KeyboardEvent): void {
    if (!this.tree || event.altKey || event.ctrlKey || event.metaKey) return;
    const to = moved(this.tree, this.root, this.focused, event.key);
    if (to !== undefined) this.focus(to);
    else if (event.key === "Enter") this.zoomTo(this.focused);
    else if (event.key !== "Escape" && event.key !== "Backspace") return;
    else if (!this.zoomOut()) return;
    event.preventDefault();
  }

  private onHover({ clientX, clientY }: PointerEvent): void {
    this.hover(this.graph.nodeAt(clientX, clientY));
  }

  private onClick({ clientX, clientY }: MouseEvent): void {
    const node = this.graph.nodeAt(clientX, clientY);
    if (node >= 0) this.zoomTo(node);
  }

  private outline(by: State["tree"]): Outline {
    let outline = this.outlines.get(by);
    if (!outline) this.outlines.set(by, (outline = outlineOf(this.run, by)));
    return outline;
  }

  /** What is zoomed into, or above it if that holds nothing now. */
  private get root(): number {
    return this.tree ? nearestHeld(this.tree, this.zooms.at(-1)!) : ROOT;
  }

  private focus(node: number): void {
    this.focused = node;
    this.hovered = -1;
    this.mark();
  }

  private hover(node: number): void {
    if (node === this.hovered) return;
    this.hovered = node;
    this.mark();
  }

  private zoomTo(node: number): void {
    if (node !== this.zooms.at(-1)) this.zooms.push(node);
    this.focused = node;
    this.hovered = -1;
    this.redraw();
  }

  private zoomOut(): boolean {
    if (this.zooms.length === 1) return false;
    this.focused = this.zooms.pop()!;
    this.redraw();
    return true;
  }

  private draw(): void {
    const { state } = this.store;
    const card = this.run.cards[state.card];
    if (!card) return;
    const { event } = state;
    const moment: Moment = { card, event, missing: this.missing(state.card, event) };
    const tree = treeAt(this.outline(state.tree), moment);
    this.tree = tree;
    this.focused = nearestHeld(tree, this.focused);
    if (!isBelow(tree, this.root, this.focused)) this.focused = this.root;
    const found = this.found(tree, state.search);
    this.graph.show({ tree, root: this.root, shape: state.shape, found });
    this.crumbs.show(tree, this.root);
    this.tell(tree, moment, found);
    this.mark();
  }

  /** Undefined if nothing is searched for. */
  private found(tree: Tree, text: string): Found | undefined {
    const { outline } = tree;
    if (text.trim() === "") return undefined;
    if (this.names?.text !== text || this.names.outline !== outline)
      this.names = { text, outline, matching: matchingNames(outline, text) };
    return find(tree, this.names.matching);
  }

  private tell(tree: Tree, moment: Moment, found: Found | undefined): void {
    const { state } = this.store;
    this.graph.canvas.setAttribute("aria-label", pictureWords(tree, moment, state));
    this.controls.tell(found ? searchWords(state.search, found, tree.bytes[ROOT]!) : "");
    this.legend.replaceChildren(...legendOf(tree));
    say(this.note, missingWords(moment));
  }

  private mark(): void {
    const { tree } = this;
    if (!tree) return;
    this.graph.mark(this.focused, this.hovered);
    const node = this.hovered >= 0 ? this.hovered : this.focused;
    const name = element("bdi", { class: "place", text: nameOf(tree.outline, node) });
    this.line.replaceChildren(name, `: ${figuresOf(tree, node)}`);
  }
}
