// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The chosen, focused and pointed block of the map. They are remembered as blocks so that they stay
// while time moves; at a moment they are spans.

import type { Card } from "../model.ts";
import type { Store } from "../state.ts";
import { pieceBornAt, piecesOfBlock } from "./block_facts.ts";
import { columnsOf, spanAt, spanOfPiece } from "./pick.ts";
import type { MarkedColumns } from "./picture.ts";
import type { Layout } from "./rows.ts";
import type { Spans } from "./spans.ts";

const NONE = -1;

export class Selection {
  private readonly store: Store;
  private card: Card | undefined;
  private chosenPiece = NONE; // a piece of the state's block: the one that was clicked
  private focusedPiece = NONE;
  private hoveredColumn = NONE; // in the line of all rows

  constructor(store: Store) {
    this.store = store;
  }

  setCard(card: Card): void {
    if (card === this.card) return;
    this.card = card;
    this.chosenPiece = this.focusedPiece = this.hoveredColumn = NONE;
  }

  /** Returns a piece; -1: no block of this card is chosen. */
  get chosen(): number {
    const { block } = this.store.state;
    if (!this.card || block === 0) return NONE;
    const isKnown = this.card.pieces.born[this.chosenPiece] === block;
    return isKnown ? this.chosenPiece : pieceBornAt(this.card.pieces, block);
  }

  /** Chooses a piece's block, or none (-1). */
  choose(piece: number): void {
    this.chosenPiece = piece;
    this.store.set({ block: piece >= 0 ? this.card!.pieces.born[piece]! : 0 });
  }

  focus(piece: number): void {
    this.focusedPiece = piece;
    this.hoveredColumn = NONE;
  }

  hover(column: number): void {
    this.hoveredColumn = column;
  }

  leave(): void {
    this.focusedPiece = NONE;
    this.choose(NONE);
  }

  focusedSpan(spans: Spans): number {
    const piece = this.focusedPiece >= 0 ? this.focusedPiece : this.chosen;
    return piece >= 0 ? this.spanOf(spans, piece) : NONE;
  }

  /** Returns the span that is pointed at, or else the focused one. */
  spanToTell(spans: Spans, layout: Layout): number {
    const hovered = this.hoveredSpan(spans, layout);
    return hovered >= 0 ? hovered : this.focusedSpan(spans);
  }

  marks(spans: Spans, layout: Layout): MarkedColumns[] {
    const marks: MarkedColumns[] = [];
    const add = (mark: MarkedColumns["mark"], first: number, last: number): void => {
      if (first < 0 || last < 0) return;
      const [from] = columnsOf(spans, layout, first);
      const [, until] = columnsOf(spans, layout, last);
      marks.push({ mark, from, until });
    };
    const hovered = this.hoveredSpan(spans, layout);
    add("hovered", hovered, hovered);
    if (this.chosen >= 0) {
      const [first, until] = piecesOfBlock(this.card!.pieces, this.chosen);
      add("chosen", this.spanOf(spans, first), this.spanOf(spans, until - 1));
    }
    const focused = this.focusedPiece >= 0 ? this.spanOf(spans, this.focusedPiece) : NONE;
    add("focused", focused, focused);
    return marks;
  }

  private hoveredSpan(spans: Spans, layout: Layout): number {
    return this.hoveredColumn >= 0 ? spanAt(spans, layout, this.hoveredColumn) : NONE;
  }

  private spanOf(spans: Spans, piece: number): number {
    return spanOfPiece(spans, piece, this.card!.pieces.address[piece]!);
  }
}
