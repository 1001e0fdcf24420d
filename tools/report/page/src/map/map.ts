// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The map of a card's memory at the moment.

import { Palette } from "../colours.ts";
import { element, say, uniqueId } from "../dom.ts";
import { oncePerFrame } from "../frames.ts";
import { sentences, translated } from "../messages.ts";
import type { Card, Run } from "../model.ts";
import type { State, Store } from "../state.ts";
import { factsOf, type Frame, framesOf } from "./block_facts.ts";
import { Controls } from "./controls.ts";
import { holesOf } from "./holes.ts";
import { type Inks, inksOf } from "./inks.ts";
import { Legend } from "./legend.ts";
import { type Look, Looks } from "./looks.ts";
import { moved } from "./navigation.ts";
import { Panel } from "./panel.ts";
import { Picture } from "./picture.ts";
import { RequestBars } from "./request_bars.ts";
import type { Layout } from "./rows.ts";
import { Selection } from "./selection.ts";
import { limitWords, placeWords, type Scene, spanWords, summaryOf } from "./words.ts";

const KEYS = translated(
  "Arrow keys move between blocks, Page Up and Page Down between segments. " +
    "Enter chooses a block, Escape clears the choice.",
);

/** Returns the bytes in use after an event that are not pieces, for a card by its index in the run. */
export type Missing = (card: number, event: number) => number;

export class MapView {
  private readonly run: Run;
  private readonly store: Store;
  private readonly missing: Missing;
  private readonly controls: Controls;
  private readonly picture = new Picture();
  private readonly legend = new Legend();
  private readonly panel = new Panel();
  private readonly bars = new RequestBars();
  private readonly palette: Palette;
  private readonly selection: Selection;
  private readonly summary = element("p", { class: "summary" });
  private readonly line = element("p", { class: "line", "aria-live": "polite" });
  private readonly limits = element("p", { class: "note" });
  private readonly redraw = oncePerFrame(() => this.draw());
  private readonly remark = oncePerFrame(() => this.mark());
  private readonly looks: Looks;
  private look: Look | undefined;
  private inks: Inks | undefined; // of the look; undefined after the colour scheme has changed
  private layout: Layout | undefined;
  private scene: Scene | undefined;
  private stack: { readonly id: number; readonly frames: readonly Frame[] } | undefined;

  constructor(host: HTMLElement, run: Run, store: Store, missing: Missing = () => 0) {
    this.run = run;
    this.store = store;
    this.missing = missing;
    this.looks = new Looks(run);
    this.controls = new Controls(run, store);
    this.selection = new Selection(store);
    const keys = element("p", { class: "note", id: uniqueId("map-keys"), text: KEYS });
    const { box } = this.picture;
    box.setAttribute("aria-describedby", keys.id);
    host.classList.add("map");
    host.append(this.controls.row, this.summary, box, this.line, this.bars.box);
    host.append(this.legend.list, this.limits, keys, this.panel.box);
    this.palette = new Palette(host, () => {
      this.inks = undefined;
      this.redraw();
    });
    this.listen(box);
    this.draw();
  }

  private listen(box: HTMLElement): void {
    this.store.listen((state, before) => this.onState(state, before));
    new ResizeObserver(this.redraw).observe(box);
    box.addEventListener("keydown", (event) => this.onKey(event));
    box.addEventListener("click", (event) => this.onClick(event));
    box.addEventListener("pointermove", (event) => this.hover(this.columnOf(event)));
    box.addEventListener("pointerleave", () => this.hover(-1));
  }

  private onState(state: State, before: State): void {
    const keys = ["card", "event", "by"] as const;
    if (keys.some((key) => state[key] !== before[key])) this.redraw();
    else if (state.block !== before.block) this.remark();
  }

  private onKey(event: KeyboardEvent): void {
    if (!this.scene || !this.layout || event.altKey || event.ctrlKey || event.metaKey) return;
    const { spans } = this.scene;
    const focused = this.selection.focusedSpan(spans);
    const to = moved(spans, this.layout, focused, event.key);
    if (to !== undefined && to >= 0) this.selection.focus(spans.what[to]!);
    else if (event.key === "Enter" && focused >= 0) this.selection.choose(spans.what[focused]!);
    else if (event.key === "Escape") this.selection.leave();
    else return;
    event.preventDefault();
    this.remark();
  }

  private onClick(event: MouseEvent): void {
    if (!this.scene || !this.layout) return;
    this.selection.hover(this.columnOf(event));
    const span = this.selection.spanToTell(this.scene.spans, this.layout);
    const piece = span >= 0 ? this.scene.spans.what[span]! : -1;
    this.selection.focus(-1);
    this.selection.choose(Math.max(piece, -1));
    this.remark();
  }

  private columnOf({ clientX, clientY }: MouseEvent): number {
    return this.picture.columnAt(clientX, clientY);
  }

  private hover(column: number): void {
    this.selection.hover(column);
    this.remark();
  }

  private draw(): void {
    const { state } = this.store;
    const card = this.run.cards[state.card];
    if (!card || this.picture.columns === 0) return;
    const look = this.lookOf(card, state);
    const { spans } = look;
    spans.goTo(state.event);
    const tally = look.colouring.update();
    const missing = this.missing(state.card, state.event);
    const scene = { run: this.run, card, spans, tally, missing, holes: holesOf(spans) };
    this.scene = scene;
    this.prepare(look);
    this.picture.paint(spans, look.colouring.ofSpan);
    this.tell(scene, look);
    this.mark();
  }

  private lookOf(card: Card, { by }: State): Look {
    const look = this.looks.of(card, by);
    if (look !== this.look) this.inks = undefined;
    this.look = look;
    this.selection.setCard(card);
    return look;
  }

  private prepare({ fitting, entries }: Look): void {
    const layout = fitting.layoutFor(this.picture.columns, this.picture.density);
    if (layout === this.layout && this.inks) return;
    this.layout = layout;
    this.inks = inksOf(entries.map(({ colour }) => this.palette.role(colour)));
    this.picture.prepare(layout, this.inks);
  }

  private tell(scene: Scene, look: Look): void {
    const { card, spans, holes, tally } = scene;
    const summary = summaryOf(scene);
    say(this.summary, summary);
    this.picture.name(sentences(translated("Memory map of card $0.", card.index), summary));
    this.controls.show(card, spans.event, placeWords(scene));
    this.legend.show(look.entries, tally.ofColour);
    say(this.limits, limitWords(card, spans.event, spans.segments));
    const failure = card.failures.find(({ event }) => event === spans.event);
    if (failure) this.bars.show(failure, holes, this.layout!);
    else this.bars.hide();
  }

  /** Outlines the blocks that are chosen, focused and pointed at. */
  private mark(): void {
    const { scene, layout, selection } = this;
    if (!scene || !layout) return;
    const { spans } = scene;
    this.picture.outline(selection.marks(spans, layout));
    const span = selection.spanToTell(spans, layout);
    say(this.line, span >= 0 ? spanWords(scene, span) : "");
    const pointed = span >= 0 ? spans.what[span]! : -1;
    const piece = selection.chosen >= 0 ? selection.chosen : pointed;
    if (piece >= 0) this.describe(scene, piece);
    else this.panel.hide();
  }

  private describe({ run, card, spans }: Scene, piece: number): void {
    const id = run.origins[card.pieces.origin[piece]!]!.stack;
    if (this.stack?.id !== id) this.stack = { id, frames: framesOf(run.stacks, id) };
    const isChosen = piece === this.selection.chosen;
    const name = isChosen ? translated("The chosen block") : translated("The highlighted block");
    this.panel.show(name, factsOf(run, card, piece, spans.event), this.stack.frames);
  }
}
