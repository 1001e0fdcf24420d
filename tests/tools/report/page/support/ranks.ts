// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A job of 32 ranks: a pipeline of 4 stages over 2 x 4 ranks, of which ranks 0 and 24 were started.
import type { Cells, Ranks } from "#page/ranks/ranks.ts";

const CELLS: Cells = {
  left: 100,
  top: 20,
  width: 50,
  height: 10,
  rows: 4,
  columns: 8,
  ranks_down: 1,
  ranks_across: 1,
};

/** Ranks of the first stage are of kind 0, those of the last of kind 1; the others are not known. */
const kindOf = (rank: number): number => (rank < 8 ? 0 : rank < 24 ? -1 : 1);

export function ranks(change: Partial<Ranks> = {}, cells: Partial<Cells> = {}): Ranks {
  return {
    world: 32,
    cells: { ...CELLS, ...cells },
    rows: { words: "pipeline stage $0 of 4", size: 4, stride: 8, from: 1 },
    columns: [
      { words: "data-parallel rank $0 of 2", size: 2, stride: 4, from: 1 },
      { words: "tensor-parallel rank $0 of 4", size: 4, stride: 1, from: 1 },
    ],
    kinds: [
      { name: "rank 0", figures: "70.00 GiB of the card's 80.00 GiB used (88 %)" },
      { name: "rank 24", figures: "40.00 GiB of the card's 80.00 GiB used (50 %)" },
    ],
    kind_of: Array.from({ length: 32 }, (_, rank) => kindOf(rank)),
    started: [
      { rank: 0, page: "rank-0.html" },
      { rank: 24, page: "" },
    ],
    ...change,
  };
}
