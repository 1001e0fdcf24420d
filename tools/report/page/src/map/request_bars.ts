// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws a failed request and the largest hole, at the map's own scale.

import { drawn, element } from "../dom.ts";
import { translated } from "../messages.ts";
import type { Failure } from "../model.ts";
import { formatBytes, formatCount } from "../text.ts";
import type { Holes } from "./holes.ts";
import { type Strip, stripsOf } from "./pick.ts";
import type { Layout } from "./rows.ts";
import { requestWords } from "./words.ts";

/** A request may be larger than any window. */
const MOST_ROWS = 24;
/** Rows are lower than the map's, because only widths are compared. CSS pixels. */
const PITCH = 14;
const GAP = 4;

export class RequestBars {
  readonly box = element("div", { class: "request" });

  hide(): void {
    this.box.hidden = true;
  }

  show(failure: Failure, holes: Holes, layout: Layout): void {
    this.box.hidden = false;
    const { allocated } = failure;
    const request = translated("the request, rounded up: $0", formatBytes(allocated));
    const hole = translated("the largest hole: $0", formatBytes(holes.largest));
    this.box.replaceChildren(
      bar(request, "asked", allocated, layout),
      bar(hole, "k-holes", holes.largest, layout),
      element("p", { text: requestWords(failure, holes) }),
    );
  }
}

function bar(words: string, colour: string, bytes: number, layout: Layout): HTMLElement {
  const rows = Math.ceil(bytes / layout.scale / layout.columns);
  const drawnRows = Math.min(rows, MOST_ROWS);
  const columns = Math.min(bytes / layout.scale, drawnRows * layout.columns);
  const cut = translated("(cut: it takes $0 rows at this scale)", formatCount(rows));
  const text = rows > MOST_ROWS ? `${words} ${cut}` : words;
  return element("div", { class: "bar-row" }, [
    element("span", { class: "bar-words", text }),
    drawing(stripsOf(layout, 0, Math.max(columns, 1)), colour, layout.columns),
  ]);
}

function drawing(strips: readonly Strip[], colour: string, columns: number): SVGSVGElement {
  const height = strips.length * PITCH;
  const rects = strips.map(({ row, until }) =>
    drawn("rect", { class: colour, y: row * PITCH + 1, width: until, height: PITCH - GAP }),
  );
  const viewBox = `0 0 ${columns} ${height}`;
  return drawn("svg", { viewBox, height, preserveAspectRatio: "none", "aria-hidden": true }, rects);
}
