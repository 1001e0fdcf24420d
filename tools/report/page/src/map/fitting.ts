// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Chooses the segments that the map has room for.

import type { Card } from "../model.ts";
import { type Layout, layOut } from "./rows.ts";
import type { Spans } from "./spans.ts";

/**
 * All segments of the run stay in place at every moment, unless this makes the map so many times
 * larger than the most memory that the card had at one time.
 */
const TOLERABLE = 2;

export class Fitting {
  private readonly spans: Spans;
  private readonly isStill: boolean;
  private shown: Uint8Array | undefined;
  private layout: Layout | undefined;
  private density = 0;

  constructor(card: Card, spans: Spans) {
    this.spans = spans;
    const ever = spans.segments.reduce((sum, { start, end }) => sum + end - start, 0);
    const most = card.columns.reserved.reduce((most, bytes) => Math.max(most, bytes), 0);
    this.isStill = most === 0 || ever <= TOLERABLE * most;
  }

  /** Returns the layout for the moment of the spans; the same object while the layout is the same. */
  layoutFor(columns: number, density: number): Layout {
    const isOther = this.isStill ? false : this.updateShown();
    const isSame = this.layout?.columns === columns && this.density === density && !isOther;
    if (this.layout && isSame) return this.layout;
    this.density = density;
    const { shown, spans } = this;
    this.layout = layOut(spans.segments, columns, density, (i) => shown?.[i] !== 0);
    return this.layout;
  }

  private updateShown(): boolean {
    const now = Uint8Array.from(this.spans.segments, (_, i) => (this.spans.isThere(i) ? 1 : 0));
    const isOther = now.some((isThere, i) => isThere !== this.shown?.[i]);
    this.shown = now;
    return isOther;
  }
}
