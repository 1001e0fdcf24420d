// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The state as the address of the page, so that a link shows the same view:
// page.html#card=1&t=12345&from=12000&to=13000&by=owner, page.html#oom=2.

import type { Run } from "./model.ts";
import type { State } from "./state.ts";

const BY = ["role", "owner", "module", "site"] as const;
const TREES = ["stack", "module"] as const;
const SHAPES = ["flame", "treemap"] as const;

/** Returns the state without a link: the moment that the words are about, and the whole run. */
export function beginning(run: Run): State {
  return {
    card: run.told.card,
    event: Math.max(1, run.told.event),
    from: 1,
    to: run.events,
    by: "role",
    tree: "stack",
    shape: "flame",
    search: "",
    block: 0,
  };
}

/** Leaves out values that equal those in `first`. */
export function textOf(state: State, run: Run, first = beginning(run)): string {
  const parts = new URLSearchParams();
  const add = <K extends keyof State>(name: string, key: K, value = String(state[key])): void => {
    if (state[key] !== first[key]) parts.set(name, value);
  };
  add("card", "card", String(run.cards[state.card]!.index));
  add("t", "event");
  add("from", "from");
  add("to", "to");
  add("by", "by");
  add("tree", "tree");
  add("shape", "shape");
  add("q", "search");
  add("block", "block");
  return parts.toString();
}

/** Returns null if the text is the name of a section. Wrong values are left out. */
export function stateOf(text: string, run: Run, first = beginning(run)): State | null {
  if (!text.includes("=")) return null;
  const asked = new URLSearchParams(text);
  const index = run.cards.findIndex((card) => String(card.index) === asked.get("card"));
  const card = index < 0 ? first.card : index;
  const number = (name: string, otherwise: number): number => {
    const value = Number(asked.get(name) ?? NaN);
    return Number.isInteger(value) && value >= 1 && value <= run.events ? value : otherwise;
  };
  const oneOf = <T extends string>(name: string, known: readonly T[], otherwise: T): T =>
    known.find((value) => value === asked.get(name)) ?? otherwise;
  const failure = run.cards[card]!.failures[Number(asked.get("oom") ?? 0) - 1];
  const [from, to] = [number("from", 1), number("to", run.events)];
  return {
    card,
    event: number("t", failure?.event ?? first.event),
    from: from < to ? from : 1,
    to: from < to ? to : run.events,
    by: oneOf("by", BY, first.by),
    tree: oneOf("tree", TREES, first.tree),
    shape: oneOf("shape", SHAPES, first.shape),
    search: asked.get("q") ?? "",
    block: number("block", 0),
  };
}
