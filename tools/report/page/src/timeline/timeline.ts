// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A card's memory over the run, with choices of grouping, zoom and moment.

import { Palette } from "../colours.ts";
import { button, element, say, uniqueId } from "../dom.ts";
import { oncePerFrame } from "../frames.ts";
import { type Keys, keysOf } from "../keys.ts";
import { clauses, counted, translated } from "../messages.ts";
import type { Card, Run } from "../model.ts";
import { positionWords } from "../position.ts";
import { radios } from "../radios.ts";
import type { State, Store } from "../state.ts";
import { formatBytes, formatCount } from "../text.ts";
import { Chart } from "./chart.ts";
import { legendOf, legendOfPhases } from "./legend.ts";
import { Marks } from "./marks.ts";
import { Scale } from "./scale.ts";
import { keptWords, sampleAt } from "./words.ts";
import { type Usage, usageOf, type View } from "./usage.ts";
import { clamped, showing, zoomed } from "./zoom.ts";

const KEYS = translated(
  "Drag or turn the wheel to zoom; click to choose the moment that the views below show. " +
    "Keys: arrows move the moment, + and - zoom, 0 shows the whole run.",
);
const ZOOM = 0.5;

export class TimelineView {
  private readonly run: Run;
  private readonly store: Store;
  private readonly other: Store | undefined;
  private readonly palette: Palette;
  private readonly chart: Chart;
  private readonly caption = element("figcaption");
  private readonly line = element("p", { class: "line", "aria-live": "off" });
  private readonly legend = element("ul", { class: "legend" });
  private readonly note = element("p", { class: "note" });
  private readonly keysNote = element("p", {
    class: "note",
    id: uniqueId("timeline-keys"),
    text: KEYS,
  });
  private readonly box: HTMLElement;
  private readonly redraw = oncePerFrame(() => this.draw());
  private view: View | undefined;
  private usage: Usage | undefined;
  private keys: Keys | undefined;
  private keysOfWhat = "";
  private hovered: number | undefined;

  /**
   * Timelines with the same scale can be compared by eye. `other` is another moment of the run,
   * which is also shown.
   */
  constructor(host: HTMLElement, run: Run, store: Store, scale = new Scale(), other?: Store) {
    this.run = run;
    this.store = store;
    this.other = other;
    this.palette = new Palette(host, () => this.recolour());
    this.chart = new Chart(this.palette, new Marks(run, this.palette), scale, {
      hover: (event) => {
        this.hovered = event ?? undefined;
        this.tell(event ?? this.store.state.event);
      },
      choose: (event) => this.store.set({ event }),
      zoom: (from, to) => this.store.set(clamped({ from, to }, run.events)),
    });
    this.box = element(
      "div",
      {
        tabindex: 0,
        role: "application",
        "aria-label": translated("Memory in use over the run"),
        "aria-describedby": this.keysNote.id,
      },
      [this.chart.host],
    );
    host.classList.add("timeline");
    host.append(this.controls(), this.caption, this.box, this.line, this.legend, this.note);
    host.append(this.phases(), this.keysNote);
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.box.addEventListener("wheel", (event) => this.onWheel(event), { passive: false });
    this.box.addEventListener("focus", () => this.line.setAttribute("aria-live", "polite"));
    this.box.addEventListener("blur", () => this.line.setAttribute("aria-live", "off"));
    new ResizeObserver(() => this.redraw()).observe(this.box);
    store.listen((state, before) => this.onState(state, before));
    other?.listen(() => this.point());
    this.draw();
  }

  private get card(): Card {
    return this.run.cards[this.store.state.card]!;
  }

  private controls(): HTMLElement {
    const zoom = (factor: number) => (): void => this.zoomBy(factor);
    return element("div", { class: "controls" }, [
      ...this.cards(),
      radios(this.store, {
        key: "by",
        title: translated("Split the memory"),
        name: "timeline-by",
        options: [
          ["role", translated("by role")],
          ["owner", translated("by owner")],
          ["module", translated("by module")],
          ["site", translated("by line")],
        ],
      }),
      element("span", { class: "buttons" }, [
        button(translated("Zoom in"), zoom(ZOOM)),
        button(translated("Zoom out"), zoom(1 / ZOOM)),
        button(translated("Whole run"), () => this.whole()),
      ]),
    ]);
  }

  /** Returns a choice of cards if there are several. */
  private cards(): HTMLElement[] {
    const { cards } = this.run;
    const options = cards.map(({ index }, i) => [i, translated("card $0", index)] as const);
    const title = translated("Card");
    const choice = { key: "card", title, name: "timeline-card", options } as const;
    return cards.length > 1 ? [radios(this.store, choice)] : [];
  }

  private phases(): HTMLElement {
    const entries = legendOfPhases(this.run);
    const title = element("li", { class: "note", text: translated("phases in the strip:") });
    const list = element("ul", { class: "legend" }, [title, ...entries]);
    list.hidden = entries.length === 0;
    return list;
  }

  private onState(state: State, before: State): void {
    const redrawn = ["card", "from", "to", "by"] as const;
    if (redrawn.some((key) => state[key] !== before[key])) return this.redraw();
    if (state.event === before.event) return;
    if (showing(state, state.event, this.run.events) === state) this.point();
    else this.store.set(showing(state, state.event, this.run.events));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { from, to } = this.store.state;
    const stride = Math.max(1, Math.round((to - from) / 200)) * (event.shiftKey ? 10 : 1);
    const acts: Record<string, () => void> = {
      ArrowLeft: () => this.move(-stride),
      ArrowRight: () => this.move(stride),
      Home: () => this.move(-Infinity),
      End: () => this.move(Infinity),
      "+": () => this.zoomBy(ZOOM),
      "=": () => this.zoomBy(ZOOM),
      "-": () => this.zoomBy(1 / ZOOM),
      "0": () => this.whole(),
    };
    const act = acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Zooms around the pointer. At the whole run the wheel scrolls the page again. */
  private onWheel(event: WheelEvent): void {
    if (event.ctrlKey || event.deltaY === 0) return; // with Ctrl the browser zooms the page
    const { state } = this.store;
    const factor = 2 ** (Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY) / 200, 1));
    const range = zoomed(state, this.hovered ?? state.event, factor, this.run.events);
    if (range.from === state.from && range.to === state.to) return;
    event.preventDefault();
    this.store.set(range);
  }

  private move(by: number): void {
    const event = Math.min(Math.max(1, this.store.state.event + by), this.run.events);
    this.store.set({ event });
  }

  private zoomBy(factor: number): void {
    const { state } = this.store;
    this.store.set(zoomed(state, state.event, factor, this.run.events));
  }

  private whole(): void {
    this.store.set({ from: 1, to: this.run.events });
  }

  private recolour(): void {
    this.chart.forget();
    this.redraw();
  }

  private keysOfCard(): Keys {
    const { card, by } = this.store.state;
    if (this.keysOfWhat !== `${card} ${by}`) this.keys = undefined;
    this.keysOfWhat = `${card} ${by}`;
    return (this.keys ??= keysOf(this.run, this.card, by));
  }

  private draw(): void {
    const { by, from, to } = this.store.state;
    this.view = { card: this.card, by, keys: this.keysOfCard(), from, to };
    this.usage = usageOf(this.view, this.chart.width);
    this.chart.show(this.view, this.usage);
    say(this.caption, this.captionOf(this.view));
    say(this.note, keptWords(this.view));
    this.point();
  }

  private captionOf({ card, from, to }: View): string {
    const parts = [
      this.rangeWords(card, from, to),
      translated("dashed: reserved by the allocator"),
    ];
    if (card.bytes !== null)
      parts.push(translated("top line: the card, $0", formatBytes(card.bytes)));
    if (this.other) parts.push(translated("dotted: the other moment"));
    return clauses(...parts);
  }

  private rangeWords({ index }: Card, from: number, to: number): string {
    const { events } = this.run;
    if (from === 1 && to === events)
      return counted(
        events,
        "card $0, memory in use over 1 event",
        "card $0, memory in use over all $1 events",
        index,
        formatCount(events),
      );
    return translated(
      "card $0, memory in use over events $1 to $2 of $3",
      index,
      formatCount(from),
      formatCount(to),
      formatCount(events),
    );
  }

  private point(): void {
    const { event, card } = this.store.state;
    const other = this.other?.state;
    this.chart.point(event, other?.card === card ? other.event : undefined);
    this.tell(this.store.state.event);
  }

  private tell(event: number): void {
    if (!this.view || !this.usage) return;
    const sample = sampleAt(this.usage, event);
    const most = this.usage.most[sample] ?? 0;
    const reserved = this.usage.reserved[sample] ?? 0;
    const [where, inUse] = [positionWords(this.run, event), formatBytes(most)];
    const words =
      reserved > 0
        ? translated("$0: $1 in use, $2 reserved", where, inUse, formatBytes(reserved))
        : translated("$0: $1 in use", where, inUse);
    say(this.line, words);
    this.legend.replaceChildren(...legendOf(this.view.keys, this.usage, sample));
  }
}
