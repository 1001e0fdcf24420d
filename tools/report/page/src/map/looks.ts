// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The map's data about a card and its colours, made when first needed.

import { keysOf } from "../keys.ts";
import type { Card, GroupingName, Run } from "../model.ts";
import { Colouring, NOT_IN_USE } from "./colouring.ts";
import { Fitting } from "./fitting.ts";
import type { Entry } from "./legend.ts";
import { Spans } from "./spans.ts";

export interface Look {
  readonly card: Card;
  readonly by: GroupingName;
  readonly spans: Spans;
  readonly fitting: Fitting;
  readonly entries: readonly Entry[]; // by index of a colour
  readonly colouring: Colouring;
}

export class Looks {
  private readonly run: Run;
  private readonly places = new Map<Card, Pick<Look, "spans" | "fitting">>();
  private last: Look | undefined;

  constructor(run: Run) {
    this.run = run;
  }

  /** Returns the same object as before for the same card and colours. */
  of(card: Card, by: GroupingName): Look {
    if (this.last?.card === card && this.last.by === by) return this.last;
    const { spans, fitting } = this.placesOf(card);
    const keys = keysOf(this.run, card, by);
    const entries = keys.labels.map((name, i) => ({ name, colour: keys.colours[i]! }));
    const colouring = new Colouring(spans, card.pieces, keys);
    this.last = { card, by, spans, fitting, entries: [...entries, ...NOT_IN_USE], colouring };
    return this.last;
  }

  private placesOf(card: Card): Pick<Look, "spans" | "fitting"> {
    let places = this.places.get(card);
    if (!places) {
      const spans = new Spans(card);
      this.places.set(card, (places = { spans, fitting: new Fitting(card, spans) }));
    }
    return places;
  }
}
