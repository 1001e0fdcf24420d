// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What the page says about a cell of the ranks.

import { listed, sentences, translated } from "../messages.ts";
import { formatCount } from "../text.ts";
import { type Cell, fullestOf, placesOf, type Ranks, ranksIn } from "./ranks.ts";

/** What is known about a cell. */
export interface CellWords {
  readonly text: string;
  readonly page: string; // of its only rank; "" if there is none
}

/** Returns null if the cell has no rank. */
export function cellWords(ranks: Ranks, cell: Cell): CellWords | null {
  const all = ranksIn(ranks, cell);
  if (all.length === 0) return null;
  const rank = fullestOf(ranks, all);
  const several =
    all.length === 1 ? "" : translated("This is the fullest of $0 ranks.", formatCount(all.length));
  const text = sentences(rankWords(ranks, rank), several);
  const page = all.length === 1 ? pageOf(ranks, rank) : "";
  return { text, page };
}

function rankWords(ranks: Ranks, rank: number): string {
  const places = listed(...placesOf(ranks, rank));
  const kind = ranks.kinds[ranks.kind_of[rank]!];
  const isStarted = ranks.started.some((started) => started.rank === rank);
  if (!kind) return translated("Rank $0: $1; what it holds is not known.", rank, places);
  if (isStarted) return translated("Rank $0: $1; $2.", rank, places, kind.figures);
  return translated(
    "Rank $0: $1; it was not started, $2 stands for it: $3.",
    rank,
    places,
    kind.name,
    kind.figures,
  );
}

function pageOf(ranks: Ranks, rank: number): string {
  return ranks.started.find((started) => started.rank === rank)?.page ?? "";
}
