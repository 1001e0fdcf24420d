// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Marks over the layers: steps, phases, the card's size, failed requests, the peak.

import type uPlot from "uplot";
import { cssOf, type Palette } from "../colours.ts";
import { translated } from "../messages.ts";
import type { Card, Run } from "../model.ts";
import { countUntil } from "../sorted.ts";
import type { Range } from "./zoom.ts";

/** The height in CSS pixels of the strip of phases and the steps below the layers. */
export const BELOW = 28;
const STRIP = 9;
const LABEL = 64; // the least room for a label: that of "step 12345"
const OFFSET = 3; // of a label from its tick

export class Marks {
  private readonly run: Run;
  private readonly palette: Palette;

  constructor(run: Run, palette: Palette) {
    this.run = run;
    this.palette = palette;
  }

  draw(plot: uPlot, card: Card, range: Range): void {
    const { ctx } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
    ctx.clip();
    this.drawCard(plot, card);
    this.drawFailures(plot, card, range);
    this.drawPeak(plot, card);
    ctx.restore();
    this.drawPhases(plot, range);
    this.drawSteps(plot, range);
  }

  private drawPhases(plot: uPlot, { from, to }: Range): void {
    const { phases } = this.run;
    const height = STRIP * devicePixelRatio;
    const top = plot.bbox.top + plot.bbox.height + devicePixelRatio;
    const first = countUntil((i) => phases[i]!.event, phases.length, from) - 1;
    for (let i = Math.max(0, first); i < phases.length && phases[i]!.event <= to; ++i) {
      const left = plot.valToPos(Math.max(phases[i]!.event, from), "x", true);
      const right = plot.valToPos(Math.min(phases[i + 1]?.event ?? to + 1, to + 1), "x", true);
      plot.ctx.fillStyle = cssOf(this.palette.role(`phase_${phases[i]!.name}`));
      plot.ctx.fillRect(left, top, Math.max(right - left, 1), height);
    }
  }

  private drawCard(plot: uPlot, card: Card): void {
    if (card.bytes === null) return;
    const y = plot.valToPos(card.bytes, "y", true);
    const { left, width } = plot.bbox;
    this.line(plot, "failed", [left, y], [left + width, y], 1.4);
  }

  private drawFailures(plot: uPlot, card: Card, { from, to }: Range): void {
    const { top, height } = plot.bbox;
    for (const { event } of card.failures) {
      if (event < from || event > to) continue;
      const x = plot.valToPos(event, "x", true);
      this.line(plot, "failed", [x, top], [x, top + height], 1.8);
    }
  }

  private drawPeak(plot: uPlot, { peak }: Card): void {
    if (peak.event === 0) return;
    const { ctx } = plot;
    ctx.beginPath();
    ctx.arc(
      plot.valToPos(peak.event, "x", true),
      plot.valToPos(peak.bytes, "y", true),
      4 * devicePixelRatio,
      0,
      2 * Math.PI,
    );
    ctx.fillStyle = cssOf(this.palette.ground);
    ctx.strokeStyle = cssOf(this.palette.ink);
    ctx.lineWidth = 1.6 * devicePixelRatio;
    ctx.fill();
    ctx.stroke();
  }

  private drawSteps(plot: uPlot, { from, to }: Range): void {
    const { ctx, bbox } = plot;
    const bottom = bbox.top + bbox.height + (STRIP + 1) * devicePixelRatio;
    let free = bbox.left; // labels must not overlap
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    for (const { event, number } of this.run.steps) {
      const x = plot.valToPos(event, "x", true);
      if (event < from || event > to || x < free) continue;
      const label = translated("step $0", number);
      const width = ctx.measureText(label).width + 2 * OFFSET * devicePixelRatio;
      const end = x + Math.max(LABEL * devicePixelRatio, width);
      if (end > bbox.left + bbox.width) continue;
      free = end;
      this.line(plot, "faint", [x, bottom], [x, bottom + 5 * devicePixelRatio], 1);
      ctx.fillStyle = cssOf(this.palette.role("faint"));
      ctx.fillText(label, x + OFFSET * devicePixelRatio, bottom + 3 * devicePixelRatio);
    }
  }

  private line(
    { ctx }: uPlot,
    colour: string,
    from: readonly [number, number],
    to: readonly [number, number],
    width: number,
  ): void {
    ctx.setLineDash([]); // uPlot's own lines may leave theirs set
    ctx.beginPath();
    ctx.moveTo(...from);
    ctx.lineTo(...to);
    ctx.strokeStyle = cssOf(this.palette.role(colour));
    ctx.lineWidth = width * devicePixelRatio;
    ctx.stroke();
  }
}
