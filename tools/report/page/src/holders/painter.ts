// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Boxes on a canvas.

import { type Colour, cssOf, inkOn, mixed, type Palette } from "../colours.ts";
import { Labels } from "./labels.ts";
import type { Box } from "./layout.ts";
import { nameOf } from "./outline.ts";
import type { Found } from "./search.ts";
import { mainRole, type Tree } from "./tree.ts";

/** What a picture shows, but for where it is scrolled to. */
export interface Scene {
  readonly tree: Tree;
  readonly boxes: readonly Box[];
  readonly found: Found | undefined; // of a search
}

export interface Marks {
  readonly focused: Box | undefined;
  readonly hovered: Box | undefined;
}

const FONT = "12px system-ui, sans-serif";
const BOLD = "600 12px system-ui, sans-serif"; // the user's own code
const MIDDLE_OF_LINE = 9; // pixels below the top of a box
const PADDING = 4;
const LEAST_LABEL = { width: 22, height: 14 };
const FADED = 0.22; // of the colour is left, beside what a search found
const OF_PARENT = 0.55; // ... behind what lies upon it in a treemap

export class Painter {
  private readonly context: CanvasRenderingContext2D;
  private readonly palette: Palette;
  private readonly plain: Labels;
  private readonly bold: Labels;

  constructor(context: CanvasRenderingContext2D, palette: Palette) {
    this.context = context;
    this.palette = palette;
    const labels = (font: string): Labels =>
      new Labels((text) => {
        context.font = font;
        return context.measureText(text).width;
      });
    this.plain = labels(FONT);
    this.bold = labels(BOLD);
  }

  /** The part of the scene from `top` pixels on; the context's units are pixels of the page. */
  paint(scene: Scene, marks: Marks, top: number, width: number, height: number): void {
    this.context.clearRect(0, 0, width, height);
    this.context.save();
    this.context.translate(0, -top);
    this.context.textBaseline = "middle";
    this.context.direction = "ltr";
    for (const box of scene.boxes)
      if (box.y < top + height && box.y + box.height > top) this.paintBox(scene, box);
    if (marks.hovered) this.outline(marks.hovered, 1);
    if (marks.focused) this.outline(marks.focused, 2);
    this.context.restore();
  }

  private paintBox(scene: Scene, box: Box): void {
    const colour = this.colour(scene, box);
    const gap = box.width > 3 && box.height > 3 ? 1 : 0;
    this.context.fillStyle = cssOf(this.palette.ground);
    if (box.isParent || gap) this.context.fillRect(box.x, box.y, box.width, box.height);
    this.context.fillStyle = cssOf(colour);
    this.context.fillRect(box.x, box.y, Math.max(box.width - gap, 0.5), box.height - gap);
    if (scene.found?.isMatch[box.node] === 1) this.outline(box, 1);
    if (box.width >= LEAST_LABEL.width && box.height >= LEAST_LABEL.height)
      this.label(scene.tree, box, colour);
  }

  private colour({ tree, found }: Scene, box: Box): Colour {
    const colour = this.palette.role(mainRole(tree, box.node).role);
    const isFaded = found !== undefined && found.isWithin[box.node] === 0;
    const share = isFaded ? FADED : 1;
    return mixed(colour, this.palette.ground, box.isParent ? share * OF_PARENT : share);
  }

  private label({ outline }: Tree, box: Box, colour: Colour): void {
    const isUser = outline.isUser[outline.name[box.node]!]!;
    const labels = isUser ? this.bold : this.plain;
    const text = labels.fitted(nameOf(outline, box.node), box.width - 2 * PADDING);
    if (text === "") return;
    this.context.font = isUser ? BOLD : FONT;
    this.context.fillStyle = inkOn(colour);
    const middle = Math.min(MIDDLE_OF_LINE + 1, box.height / 2);
    this.context.fillText(text, box.x + PADDING, box.y + middle);
  }

  private outline({ x, y, width, height }: Box, thickness: number): void {
    this.context.lineWidth = thickness;
    this.context.strokeStyle = cssOf(this.palette.ink);
    const inset = thickness / 2;
    this.context.strokeRect(
      x + inset,
      y + inset,
      Math.max(width - 1 - thickness, 0.5),
      Math.max(height - 1 - thickness, 0.5),
    );
  }
}
