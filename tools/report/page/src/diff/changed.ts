// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The changes from one moment to another, of one run or two.

import { type Colour, mixed, type Palette } from "../colours.ts";
import type { Account, Subject } from "../holders/account.ts";
import { legendEntry } from "../holders/controls.ts";
import { type Outline, outlineOf, ROOT } from "../holders/outline.ts";
import type { Found } from "../holders/search.ts";
import { type Moment, treeAt } from "../holders/tree.ts";
import { kindWords, missingWords } from "../holders/words.ts";
import { sentences, translated } from "../messages.ts";
import { positionWords } from "../position.ts";
import type { State, Store } from "../state.ts";
import { formatExact } from "../text.ts";
import { changeOf, type Difference, differenceOf, shareOf } from "./difference.ts";
import { joined, sidesOf } from "./joined.ts";
import type { Side } from "./side.ts";
import {
  changedWords,
  figureOf,
  growthWords,
  matchWords,
  sameWords,
  shrinkageWords,
} from "./words.ts";

const HOW_TO_READ = translated(
  "Each box is as wide as its bytes before or after, whichever are more. " +
    "The paler a box is, the smaller is the part that changed.",
);

export class Changed implements Subject {
  readonly title = translated("the change");
  readonly stores: readonly [Store, Store];
  private readonly before: Side;
  private readonly after: Side;

  constructor(before: Side, after: Side) {
    this.before = before;
    this.after = after;
    this.stores = [before.store, after.store];
  }

  outlineBy(by: State["tree"]): Outline {
    return outlineOf(joined(this.before.run, this.after.run), by);
  }

  accountOf(outline: Outline): Account | undefined {
    const [before, after] = sidesOf(outline, this.before.run, this.after.run);
    const was = treeAt(before, momentOf(this.before));
    const is = treeAt(after, momentOf(this.after));
    const notes = new Set([missingOf(this.before), missingOf(this.after)]);
    const sides = [
      translated("Before: $0, card $1, after $2.", ...placeOf(this.before)),
      translated("After: $0, card $1, after $2.", ...placeOf(this.after)),
    ];
    const note = sentences(...sides, HOW_TO_READ, ...notes);
    return new ChangeAccount(differenceOf(was, is), this.before.store.state, note);
  }
}

const momentOf = ({ run, store: { state }, missing }: Side): Moment => ({
  card: run.cards[state.card]!,
  event: state.event,
  missing: missing(state.card, state.event),
});

const missingOf = (side: Side): string => missingWords(momentOf(side));

/** Returns the file, the card and the moment. */
function placeOf({ run, store: { state } }: Side): [string, number, string] {
  return [run.file, run.cards[state.card]!.index, positionWords(run, state.event)];
}

class ChangeAccount implements Account {
  readonly tree: Difference;
  readonly note: string;
  readonly picture: string;

  constructor(tree: Difference, state: State, note: string) {
    this.tree = tree;
    this.note = note;
    const { before, after } = changeOf(tree, ROOT);
    const change = translated(
      "the change from $0 in use before to $1 in use after",
      formatExact(before),
      formatExact(after),
    );
    this.picture = translated("$0: $1", kindWords(state), change);
  }

  /** A tenth that changed shows as a third of the colour, so that small changes are also visible. */
  colourOf(node: number, palette: Palette): Colour {
    const share = shareOf(this.tree, node);
    const colour = palette.role(share > 0 ? "grew" : "shrank");
    return mixed(colour, palette.role("stayed"), Math.sqrt(Math.abs(share)));
  }

  figureOf(node: number): string {
    return figureOf(changeOf(this.tree, node));
  }

  wordsOf(node: number): string {
    return changedWords(this.tree, node);
  }

  searchWords(found: Found): string {
    return matchWords(this.tree, found);
  }

  legend(): HTMLLIElement[] {
    const { grew, isNew, shrank, isGone, stayed } = this.tree.sums;
    return [
      legendEntry("grew", growthWords(grew, isNew)),
      legendEntry("shrank", shrinkageWords(shrank, isGone)),
      legendEntry("stayed", sameWords(stayed)),
    ];
  }
}
