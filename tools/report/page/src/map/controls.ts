// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The choice of the moment.

import { button, element } from "../dom.ts";
import { translated } from "../messages.ts";
import type { Card, Run } from "../model.ts";
import { positionWords } from "../position.ts";
import type { Store } from "../state.ts";
import { formatCount } from "../text.ts";
import { eventsOf, neighbourOf } from "./card_events.ts";

const MOST_BUTTONS = 8;
const MOST_OPTIONS = 1000; // a longer menu is of no use

export class Controls {
  readonly row: HTMLElement;
  private readonly run: Run;
  private readonly store: Store;
  private readonly slider: HTMLInputElement;
  private readonly moments = element("span", { class: "moments" });
  private card: Card | undefined;
  private events: Float64Array | undefined; // of the card, made when first needed

  constructor(run: Run, store: Store) {
    this.run = run;
    this.store = store;
    this.slider = element("input", {
      type: "range",
      min: 1,
      max: Math.max(run.events, 1),
      step: 1,
    });
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
    const label = element("label", { class: "moment" }, [translated("Moment"), " ", this.slider]);
    const step = (by: 1 | -1) => (): void => this.goBy(by);
    const title = translated("an event at which this card's memory changes");
    const steps = [
      button(translated("previous event"), step(-1), { title }),
      button(translated("next event"), step(1), { title }),
    ];
    this.row = element("div", { class: "controls" }, [label, ...steps, this.moments]);
  }

  /** `place` is the moment in words. */
  show(card: Card, event: number, place: string): void {
    if (card !== this.card) this.setCard(card);
    this.slider.value = String(event);
    this.slider.setAttribute("aria-valuetext", place);
    for (const made of this.moments.querySelectorAll("button"))
      made.setAttribute("aria-pressed", String(Number(made.value) === event));
  }

  private setCard(card: Card): void {
    this.card = card;
    this.events = undefined;
    const failures = card.failures.map(({ event }) => event);
    const one = failures.length === 1;
    const made = failures
      .slice(0, MOST_BUTTONS)
      .map((event, i) =>
        this.momentButton(one ? translated("the failure") : translated("failure $0", i + 1), event),
      );
    if (failures.length > MOST_BUTTONS) made.push(this.menuOf(failures));
    this.moments.replaceChildren(
      ...made,
      this.momentButton(translated("the peak"), card.peak.event),
    );
  }

  private momentButton(text: string, event: number): HTMLElement {
    return button(text, () => this.goTo(event), { value: event, title: this.placeOf(event) });
  }

  private placeOf(event: number): string {
    return positionWords(this.run, event);
  }

  private menuOf(failures: readonly number[]): HTMLElement {
    const options = failures.slice(0, MOST_OPTIONS).map((event, i) => {
      return element("option", { value: event, text: `${i + 1}: ${this.placeOf(event)}` });
    });
    const text = translated("all $0 failures", formatCount(failures.length));
    const first = element("option", { value: "", text });
    const menu = element("select", { "aria-label": translated("Failures") }, [first, ...options]);
    menu.addEventListener("change", () => {
      if (menu.value !== "") this.goTo(Number(menu.value));
      menu.value = "";
    });
    return menu;
  }

  private goTo(event: number): void {
    this.store.set({ event });
  }

  private goBy(step: 1 | -1): void {
    if (!this.card) return;
    this.events ??= eventsOf(this.card);
    const event = neighbourOf(this.events, this.store.state.event, step);
    if (event !== undefined) this.goTo(event);
  }
}
