// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Which segments the map has room for.

import type { Card } from "../model.ts";
import { type Layout, layOut } from "./rows.ts";
import type { Spans } from "./spans.ts";

/**
 * All that ever were stay where they are at every moment, unless that would make the map so many
 * times larger than the most memory that the card had at one.
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

  /** For the moment at which the spans are; the same object as long as it is the same layout. */
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
