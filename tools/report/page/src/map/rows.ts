// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Places each segment on the map: one line at one scale, cut into rows like a text.

export interface Extent {
  readonly start: number; // address
  readonly end: number;
}

export interface Layout {
  readonly columns: number; // columns of a row
  readonly rows: number;
  readonly rowHeight: number; // CSS pixels, like the gap below each row
  readonly rowGap: number;
  readonly scale: number; // bytes a column
  readonly place: Float64Array; // the first column of each segment: row * columns + column
  readonly length: Float64Array; // columns of each segment; 0: not drawn
}

/** Nothing smaller is ever allocated, so finer columns would show nothing more. */
const FINEST = 512;

/** High rows are for runs that need few, low ones for thousands of small segments. */
const STYLES = [
  { rowHeight: 28, rowGap: 6, height: 280, mayBeCoarse: false },
  { rowHeight: 16, rowGap: 5, height: 480, mayBeCoarse: true },
  { rowHeight: 8, rowGap: 3, height: 480, mayBeCoarse: true },
  { rowHeight: 4, rowGap: 2, height: 480, mayBeCoarse: true },
] as const;

/** The most that a scale may be coarser than without gaps before the next style is tried. */
const TOLERABLE = 1.5;
/** A segment shorter than this part of a row is not cut by the row's end. */
const UNCUT = 1 / 4;

class Flow {
  readonly place: Float64Array;
  readonly length: Float64Array;
  private readonly bytes: Float64Array;
  private readonly columns: number;
  private readonly gap: number;

  constructor(bytes: Float64Array, columns: number, gap: number) {
    this.bytes = bytes;
    this.columns = columns;
    this.gap = gap;
    this.place = new Float64Array(bytes.length);
    this.length = new Float64Array(bytes.length);
  }

  /** Places all segments. Returns the number of rows. */
  rowsAt(scale: number): number {
    let end = 0; // of the segments placed so far
    let next = 0; // place
    for (let i = 0; i < this.bytes.length; ++i) {
      const length = Math.ceil(this.bytes[i]! / scale);
      this.length[i] = length;
      this.place[i] = length === 0 ? end : this.fitting(next, length); // places never decrease
      if (length === 0) continue;
      end = this.place[i]! + length;
      next = end + this.gap;
    }
    return Math.max(1, Math.ceil(end / this.columns));
  }

  private fitting(place: number, length: number): number {
    const left = this.columns - (place % this.columns);
    return left < length && length < this.columns * UNCUT ? place + left : place;
  }

  /** Returns the finest scale that needs at most `rows`, or at which each segment is one column. */
  scaleFor(rows: number): number {
    let [low, high] = [FINEST, FINEST];
    for (const size of this.bytes) high = Math.max(high, size);
    if (this.rowsAt(low) <= rows) return low;
    while (high / low > 1.001) {
      const middle = Math.sqrt(low * high);
      if (this.rowsAt(middle) <= rows) high = middle;
      else low = middle;
    }
    return high;
  }
}

/**
 * `columns` is the length of a row, and `density` the columns in one CSS pixel. Segments for which
 * `isShown` is false take no room.
 */
export function layOut(
  segments: readonly Extent[],
  columns: number,
  density: number,
  isShown: (i: number) => boolean = () => true,
): Layout {
  const bytes = Float64Array.from(segments, ({ start, end }, i) => (isShown(i) ? end - start : 0));
  const total = bytes.reduce((sum, size) => sum + size, 0);
  let layout: Layout | undefined;
  for (const { rowHeight, rowGap, height, mayBeCoarse } of STYLES) {
    const most = Math.floor((height + rowGap) / (rowHeight + rowGap));
    const flow = new Flow(bytes, columns, Math.ceil(density * (rowHeight > 8 ? 2 : 1)));
    const scale = flow.scaleFor(most);
    const rows = flow.rowsAt(scale);
    const { place, length } = flow;
    layout = { columns, rows, rowHeight, rowGap, scale, place, length };
    const ideal = mayBeCoarse ? Math.max(FINEST, total / (most * columns)) : FINEST;
    if (rows <= most && scale <= ideal * TOLERABLE) break;
  }
  return layout!;
}

/** Returns CSS pixels. */
export function heightOf(layout: Layout): number {
  return layout.rows * (layout.rowHeight + layout.rowGap) - layout.rowGap;
}
