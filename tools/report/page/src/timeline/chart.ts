// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The picture: layers by key, from the ground up, drawn by uPlot.

import uPlot from "uplot";
import { cssOf, type Palette } from "../colours.ts";
import { element } from "../dom.ts";
import { formatBytes, formatCount } from "../text.ts";
import { BELOW, type Marks } from "./marks.ts";
import type { Scale } from "./scale.ts";
import { ticksUntil } from "./ticks.ts";
import type { Usage, View } from "./usage.ts";

const HEIGHT = 320;
const ROOM_FOR_SCALE = 76; // "1023.9 MiB"
const ROOM_FOR_EVENT = 100; // "10,000,000"
const HEADROOM = 1.04;

export interface Acts {
  /** The pointer is over an event, or over none (null). */
  hover: (event: number | null) => void;
  choose: (event: number) => void;
  zoom: (from: number, to: number) => void;
}

export class Chart {
  readonly host = element("div", { class: "chart" });
  private readonly palette: Palette;
  private readonly marks: Marks;
  private readonly scale: Scale;
  private readonly acts: Acts;
  private readonly moment = element("div", { class: "moment", "aria-hidden": "true" });
  private readonly other = element("div", { class: "moment other", "aria-hidden": "true" });
  private plot: uPlot | undefined;
  private layers = ""; // the keys that the plot was made for
  private view: View | undefined;

  constructor(palette: Palette, marks: Marks, scale: Scale, acts: Acts) {
    this.palette = palette;
    this.marks = marks;
    this.scale = scale;
    this.acts = acts;
    scale.listen((top) => this.plot?.setScale("y", { min: 0, max: top }));
  }

  get width(): number {
    return Math.max(280, this.host.clientWidth);
  }

  /** Discards the picture after colours have changed. */
  forget(): void {
    this.layers = "";
  }

  show(view: View, usage: Usage): void {
    this.view = view;
    const data = dataOf(view, usage);
    this.scale.need(this, topOf(view, usage));
    const layers = view.keys.colours.join();
    if (!this.plot || this.layers !== layers) {
      this.plot?.destroy();
      this.plot = new uPlot(this.options(view), data, this.host);
      this.plot.over.append(this.other, this.moment);
      this.listen(this.plot);
      this.layers = layers;
    } else {
      this.plot.setData(data, false);
    }
    this.plot.setSize({ width: this.width, height: HEIGHT });
    this.plot.setScale("y", { min: 0, max: this.scale.top });
    this.plot.setScale("x", { min: view.from, max: view.to + 1 });
  }

  /** Marks the moment, and another one. */
  point(event: number, other = 0): void {
    this.pointWith(this.moment, event);
    this.pointWith(this.other, other);
  }

  private pointWith(line: HTMLElement, event: number): void {
    if (!this.plot || !this.view) return;
    const { from, to } = this.view;
    line.hidden = event < from || event > to;
    line.style.left = `${this.plot.valToPos(event, "x")}px`;
  }

  private options(view: View): uPlot.Options {
    const ink = cssOf(this.palette.role("faint"));
    const grid = { stroke: cssOf(this.palette.role("line")), width: 1 };
    const layer = (colour: string): uPlot.Series => ({
      fill: cssOf(this.palette.role(colour)),
      stroke: cssOf(this.palette.ground),
      width: 0.4,
      points: { show: false },
      paths: stepped,
    });
    return {
      width: this.width,
      height: HEIGHT,
      padding: [8, ROOM_FOR_EVENT / 3, 0, 0],
      legend: { show: false },
      cursor: { points: { show: false }, y: false, drag: { x: true, y: false, setScale: false } },
      scales: { x: { time: false, auto: false }, y: { auto: false, range: [0, this.scale.top] } },
      axes: [
        {
          stroke: ink,
          grid: { show: false },
          ticks: { show: false },
          values: (_, at) => at.map(formatCount),
          space: ROOM_FOR_EVENT,
          size: BELOW + 22,
          gap: BELOW,
        },
        {
          stroke: ink,
          grid,
          size: ROOM_FOR_SCALE,
          splits: (plot) => ticksUntil(plot.scales["y"]!.max!),
          values: (_, at) => at.map((bytes) => (bytes === 0 ? "0" : formatBytes(bytes))),
        },
      ],
      // The highest edge comes first, so that lower ones cover it.
      series: [{}, ...view.keys.colours.toReversed().map(layer), this.line(), this.line([4, 3])],
      hooks: {
        draw: [(plot) => this.view && this.marks.draw(plot, this.view.card, this.view)],
        setCursor: [(plot) => this.acts.hover(this.eventUnder(plot))],
        setSelect: [(plot) => this.onSelect(plot)],
      },
    };
  }

  private line(dash: number[] = []): uPlot.Series {
    return {
      stroke: cssOf(this.palette.ink),
      width: 1,
      dash,
      points: { show: false },
      paths: stepped,
    };
  }

  private eventUnder(plot: uPlot): number | null {
    const { left } = plot.cursor;
    if (left === undefined || left < 0 || !this.view) return null;
    const event = Math.floor(plot.posToVal(left, "x"));
    return Math.min(Math.max(event, this.view.from), this.view.to);
  }

  private onSelect(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width < 4) return;
    this.acts.zoom(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  private listen(plot: uPlot): void {
    let pressed = 0;
    plot.over.addEventListener("pointerdown", (event) => (pressed = event.clientX));
    plot.over.addEventListener("click", (event) => {
      const under = this.eventUnder(plot);
      if (Math.abs(event.clientX - pressed) < 4 && under !== null) this.acts.choose(under);
    });
  }
}

const stepped: uPlot.Series.PathBuilder = uPlot.paths.stepped!({ align: 1 });

/** Returns the least top that shows all: samples, mapped bytes, and the card if it is not far above. */
function topOf({ card, from, to }: View, usage: Usage): number {
  const { bytes, columns } = card;
  const reach = Math.max(1, ...columns.most, ...columns.reserved);
  const seen = Math.max(1, ...usage.most, ...usage.reserved);
  const isWhole = to - from + 1 >= columns.first[columns.count - 1]!;
  return (
    Math.max(isWhole ? reach : seen, bytes !== null && bytes < 4 * reach ? bytes : 0) * HEADROOM
  );
}

/** Returns each key's upper edge, the highest first; the last sample holds until the range ends. */
function dataOf(view: View, usage: Usage): uPlot.AlignedData {
  const held = (values: Float64Array): number[] => [...values, values.at(-1) ?? 0];
  const edges: number[][] = [];
  const sum = new Float64Array(usage.first.length);
  for (const key of usage.keys) {
    key.forEach((bytes, i) => (sum[i]! += bytes));
    edges.unshift(held(sum));
  }
  const told = (values: Float64Array, isTold: boolean): (number | null)[] =>
    isTold ? held(values) : new Array<null>(values.length + 1).fill(null);
  // If every block is drawn, the highest edge is the most.
  const most = told(usage.most, view.card.levels.most.length > 0);
  const reserved = told(
    usage.reserved,
    usage.reserved.some((bytes) => bytes > 0),
  );
  return [[...usage.first, view.to + 1], ...edges, most, reserved];
}
