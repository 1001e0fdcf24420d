// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What a graph can be of: what is held, or how that changed.

import type { Colour, Palette } from "../colours.ts";
import type { State, Store } from "../state.ts";
import type { Outline } from "./outline.ts";
import type { Found } from "./search.ts";
import type { Tree } from "./tree.ts";

/** A tree, and what is shown and said of it. */
export interface Account {
  readonly tree: Tree;
  readonly note: string; // what it does not tell; "": nothing
  readonly picture: string; // its name
  colourOf(node: number, palette: Palette): Colour;
  /** "1.5 MiB": behind the node's name, in its box. */
  figureOf(node: number): string;
  /** What follows the node's name where it is told. */
  wordsOf(node: number): string;
  /** "2 matches, 70 bytes (70 % of 100 bytes)" */
  searchWords(found: Found): string;
  legend(): HTMLLIElement[];
}

export interface Subject {
  readonly title: string; // "what holds memory"
  /** Of what is told; the first of them also says how it is shown. */
  readonly stores: readonly [Store, ...Store[]];
  outlineBy(by: State["tree"]): Outline;
  /** At the moments of the stores; undefined if they are of no card. */
  accountOf(outline: Outline): Account | undefined;
}
