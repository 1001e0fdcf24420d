// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The holders of the memory in use at the moment.

import type { Colour, Palette } from "../colours.ts";
import { translated } from "../messages.ts";
import type { Run } from "../model.ts";
import type { State, Store } from "../state.ts";
import { formatBytes } from "../text.ts";
import type { Account, Subject } from "./account.ts";
import { legendOf } from "./controls.ts";
import { type Outline, outlineOf, ROOT } from "./outline.ts";
import type { Found } from "./search.ts";
import { type Holdings, mainRole, type Moment, treeAt } from "./tree.ts";
import { figuresOf, missingWords, pictureWords, searchWords } from "./words.ts";

/** Returns the bytes in use on a card after an event that are not pieces. */
export type Missing = (card: number, event: number) => number;

export class Held implements Subject {
  readonly title: string;
  readonly stores: readonly [Store];
  private readonly run: Run;
  private readonly missing: Missing;

  constructor(
    run: Run,
    store: Store,
    missing: Missing = () => 0,
    title = translated("memory in use"),
  ) {
    this.run = run;
    this.stores = [store];
    this.missing = missing;
    this.title = title;
  }

  outlineBy(by: State["tree"]): Outline {
    return outlineOf(this.run, by);
  }

  accountOf(outline: Outline): Account | undefined {
    const { state } = this.stores[0];
    const card = this.run.cards[state.card];
    if (!card) return undefined;
    const { event } = state;
    const moment = { card, event, missing: this.missing(state.card, event) };
    return new HeldAccount(treeAt(outline, moment), moment, state);
  }
}

class HeldAccount implements Account {
  readonly tree: Holdings;
  readonly note: string;
  readonly picture: string;

  constructor(tree: Holdings, moment: Moment, state: State) {
    this.tree = tree;
    this.note = missingWords(moment);
    this.picture = pictureWords(tree, moment, state);
  }

  colourOf(node: number, palette: Palette): Colour {
    return palette.role(mainRole(this.tree, node).role);
  }

  figureOf(node: number): string {
    return formatBytes(this.tree.bytes[node]!);
  }

  wordsOf(node: number): string {
    return figuresOf(this.tree, node);
  }

  searchWords(found: Found): string {
    return searchWords(found, this.tree.bytes[ROOT]!);
  }

  legend(): HTMLLIElement[] {
    return legendOf(this.tree);
  }
}
