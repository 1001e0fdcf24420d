// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The subjects of a graph: the held bytes, or their change.

import type { Colour, Palette } from "../colours.ts";
import type { State, Store } from "../state.ts";
import type { Outline } from "./outline.ts";
import type { Found } from "./search.ts";
import type { Tree } from "./tree.ts";

/** A tree, with the colours and words that describe it. */
export interface Account {
  readonly tree: Tree;
  readonly note: string; // what the tree lacks; "": nothing
  readonly picture: string; // its name
  colourOf(node: number, palette: Palette): Colour;
  /** Returns "1.5 MiB", which follows the node's name in its box. */
  figureOf(node: number): string;
  /** Returns the text that follows the node's name elsewhere. */
  wordsOf(node: number): string;
  /** Returns "2 matches, 70 bytes (70 % of 100 bytes)". */
  searchWords(found: Found): string;
  legend(): HTMLLIElement[];
}

export interface Subject {
  readonly title: string; // "memory in use"
  /** The states of the runs; the first one also says how the graph is shown. */
  readonly stores: readonly [Store, ...Store[]];
  outlineBy(by: State["tree"]): Outline;
  /** Describes the stores' moments; undefined if they are not of any card. */
  accountOf(outline: Outline): Account | undefined;
}
