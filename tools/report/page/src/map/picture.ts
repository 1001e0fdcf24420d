// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The canvas of the map, with the outlines of blocks above it.

import { drawn, element } from "../dom.ts";
import { translated } from "../messages.ts";
import type { Inks } from "./inks.ts";
import { columnAt, stripsOf } from "./pick.ts";
import { Raster } from "./raster.ts";
import { heightOf, type Layout } from "./rows.ts";
import type { Spans } from "./spans.ts";

/** Columns in the line of all rows, to be outlined. */
export interface MarkedColumns {
  readonly mark: "chosen" | "focused" | "hovered";
  readonly from: number;
  readonly until: number;
}

/** Finer pixels would show nothing more and take longer. */
const MOST_DENSITY = 2;
/** A block of more strips only has its first and last marked. */
const MOST_STRIPS = 60;

export class Picture {
  readonly box = element("div", {
    class: "space",
    tabindex: 0,
    role: "application",
    "aria-label": translated("Memory map"),
  });
  private readonly canvas = element("canvas", { role: "img" });
  private readonly overlay = drawn("svg", { "aria-hidden": true, preserveAspectRatio: "none" });
  private readonly context = this.canvas.getContext("2d")!;
  private layout: Layout | undefined;
  private raster: Raster | undefined;
  private image: ImageData | undefined;

  constructor() {
    this.box.append(this.canvas, this.overlay);
  }

  /** Returns the canvas pixels in a CSS pixel of a row. Vertically they are the same. */
  get density(): number {
    return Math.min(MOST_DENSITY, Math.max(1, window.devicePixelRatio || 1));
  }

  /** Returns 0 while the box is not shown. */
  get columns(): number {
    return Math.floor(this.box.clientWidth * this.density);
  }

  /** Prepares for another layout, or other inks. */
  prepare(layout: Layout, inks: Inks): void {
    const height = heightOf(layout);
    if (this.canvas.width !== layout.columns || this.canvas.height !== height) {
      this.canvas.width = layout.columns;
      this.canvas.height = height;
      this.canvas.style.height = this.overlay.style.height = `${height}px`;
      this.overlay.setAttribute("viewBox", `0 0 ${layout.columns} ${height}`);
    }
    this.image = this.context.createImageData(layout.columns, height);
    this.layout = layout;
    this.raster = new Raster(layout, inks);
  }

  paint(spans: Spans, colours: Uint16Array): void {
    if (!this.raster || !this.image) return;
    this.raster.paintLine(spans, colours);
    this.raster.copyTo(new Uint32Array(this.image.data.buffer));
    this.context.putImageData(this.image, 0, 0);
  }

  name(words: string): void {
    this.canvas.setAttribute("aria-label", words);
  }

  /** Returns the column in the line of all rows at a point of the window; -1: none. */
  columnAt(clientX: number, clientY: number): number {
    if (!this.layout) return -1;
    const { left, top, width } = this.canvas.getBoundingClientRect();
    const x = ((clientX - left) * this.layout.columns) / width;
    return columnAt(this.layout, x, clientY - top);
  }

  /** Draws outlines, the last on top. */
  outline(marks: readonly MarkedColumns[]): void {
    this.overlay.replaceChildren(...marks.flatMap((mark) => this.outlinesOf(mark)));
  }

  private outlinesOf({ mark, from, until }: MarkedColumns): SVGRectElement[] {
    if (!this.layout) return [];
    const { rowHeight, rowGap } = this.layout;
    const all = stripsOf(this.layout, from, until);
    const strips = all.length > MOST_STRIPS ? [all[0]!, all.at(-1)!] : all;
    const places = strips.map((strip) => ({
      x: strip.from,
      y: strip.row * (rowHeight + rowGap),
      width: strip.until - strip.from,
      height: rowHeight,
    }));
    const draw = (name: string) => places.map((place) => drawn("rect", { ...place, class: name }));
    return [...draw("halo"), ...draw(mark)];
  }
}
