// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The runs of fit in a drawing of memory against time, as tools/report/page/frontier_picture.cc writes them.

/** A run: its place in units of the drawing, and what the page says about it. */
export interface FrontierPoint {
  readonly x: number;
  readonly y: number;
  readonly words: string;
}

export interface Frontier {
  readonly points: readonly FrontierPoint[]; // by memory, at least two
}

/** Returns the index of the point that is nearest to a place of the drawing. */
export function nearest({ points }: Frontier, x: number, y: number): number {
  const distances = points.map((point) => Math.hypot(point.x - x, point.y - y));
  return distances.indexOf(Math.min(...distances));
}

/** Returns the index that a key leads to; `index` itself at an end, null if the key leads nowhere. */
export function moved({ points }: Frontier, index: number, key: string): number | null {
  const last = points.length - 1;
  switch (key) {
    case "ArrowLeft":
    case "ArrowDown":
      return Math.max(index - 1, 0);
    case "ArrowRight":
    case "ArrowUp":
      return Math.min(index + 1, last);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return null;
  }
}
