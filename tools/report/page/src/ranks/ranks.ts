// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The ranks of a job as cells of a table, as tools/report/page/rank_data.cc writes them.

/** A direction in which ranks are arranged: rank = the sum of place * stride over the dimensions. */
export interface Dimension {
  readonly words: string; // with $0 for the place's number: "pipeline stage $0 of 8"
  readonly size: number;
  readonly stride: number;
  readonly from: number; // the number of the first place
}

/** Where the cells are drawn, in units of the drawing. */
export interface Cells {
  readonly left: number;
  readonly top: number;
  readonly width: number; // of a cell
  readonly height: number; // of a cell
  readonly rows: number;
  readonly columns: number;
  readonly ranks_down: number; // in a cell
  readonly ranks_across: number; // in a cell
}

export interface Ranks {
  readonly world: number;
  readonly cells: Cells;
  readonly rows: Dimension;
  readonly columns: readonly Dimension[]; // the last one changes from each column to the next
  readonly kinds: readonly { readonly name: string; readonly figures: string }[]; // fullest first
  readonly kind_of: readonly number[]; // by rank: an index of `kinds`; -1: not known
  readonly started: readonly { readonly rank: number; readonly page: string }[]; // "": no page
}

export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** Returns the cell at a point of the drawing; null beside the cells. */
export function cellAt(cells: Cells, x: number, y: number): Cell | null {
  const column = Math.floor((x - cells.left) / cells.width);
  const row = Math.floor((y - cells.top) / cells.height);
  const isInside = row >= 0 && row < cells.rows && column >= 0 && column < cells.columns;
  return isInside ? { row, column } : null;
}

function rankAt(ranks: Ranks, row: number, column: number): number {
  let rank = row * ranks.rows.stride;
  for (const { size, stride } of ranks.columns.toReversed()) {
    rank += (column % size) * stride;
    column = Math.floor(column / size);
  }
  return rank;
}

/** Returns the ranks of a cell, ascending by row, then by column; none behind the last rank. */
export function ranksIn(ranks: Ranks, cell: Cell): number[] {
  const { ranks_down: down, ranks_across: across } = ranks.cells;
  const columns = ranks.columns.reduce((count, { size }) => count * size, 1);
  const found: number[] = [];
  for (let row = cell.row * down; row < Math.min((cell.row + 1) * down, ranks.rows.size); ++row)
    for (
      let column = cell.column * across;
      column < Math.min((cell.column + 1) * across, columns);
      ++column
    ) {
      const rank = rankAt(ranks, row, column);
      if (rank < ranks.world) found.push(rank);
    }
  return found;
}

/** Returns the rank of the fullest kind, the first of several. `of`: not empty. */
export function fullestOf(ranks: Ranks, of: readonly number[]): number {
  const order = (rank: number): number => {
    const kind = ranks.kind_of[rank]!;
    return kind < 0 ? Infinity : kind;
  };
  return of.reduce((best, rank) => (order(rank) < order(best) ? rank : best));
}

/** Returns "pipeline stage 3 of 8" and so on, for each dimension. */
export function placesOf(ranks: Ranks, rank: number): string[] {
  return [ranks.rows, ...ranks.columns].map(({ words, size, stride, from }) =>
    words.replace("$0", String((Math.floor(rank / stride) % size) + from)),
  );
}

/** Returns the cell that a key leads to; `cell` itself at an edge, null if the key leads nowhere. */
export function moved({ rows, columns }: Cells, cell: Cell, key: string): Cell | null {
  const { row, column } = cell;
  const at = (toRow: number, toColumn: number): Cell => ({
    row: Math.min(Math.max(toRow, 0), rows - 1),
    column: Math.min(Math.max(toColumn, 0), columns - 1),
  });
  switch (key) {
    case "ArrowLeft":
      return at(row, column - 1);
    case "ArrowRight":
      return at(row, column + 1);
    case "ArrowUp":
      return at(row - 1, column);
    case "ArrowDown":
      return at(row + 1, column);
    case "PageUp":
      return at(0, column);
    case "PageDown":
      return at(rows - 1, column);
    case "Home":
      return at(row, 0);
    case "End":
      return at(row, columns - 1);
    default:
      return null;
  }
}
