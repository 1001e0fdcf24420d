// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Paints boxes on a canvas.

import { type Colour, cssOf, inkOn, mixed, type Palette } from "../colours.ts";
import type { Account } from "./account.ts";
import { Labels } from "./labels.ts";
import type { Box } from "./layout.ts";
import { nameOf, pathTo } from "./outline.ts";
import type { Found } from "./search.ts";

/** The contents of a picture, without its scroll position. */
export interface Scene {
  readonly account: Account;
  readonly boxes: readonly Box[];
  readonly found: Found | undefined; // of a search
}

export interface Window {
  readonly top: number; // pixels of the scene above it
  readonly width: number;
  readonly height: number;
}

const FONT = "12px system-ui, sans-serif";
const BOLD = "600 12px system-ui, sans-serif"; // the user's own code
const MIDDLE_OF_LINE = 10; // pixels below the top of a box
const PADDING = 4;
const LEAST_LABEL = { width: 22, height: 14 };
const FADED = 0.22; // share of the colour that is left beside matches of a search
const OF_PARENT = [0.34, 0.18]; // the same for parents of other boxes, alternating by depth

/** True if a search found one of the nodes of a box. */
const isMatch = ({ account: { tree }, found }: Scene, { node, from }: Box): boolean =>
  found !== undefined && pathTo(tree.outline, node, from).some((at) => found.isMatch[at] === 1);

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

  /** The context's units are pixels of the page. */
  paint(scene: Scene, { top, width, height }: Window): void {
    this.context.clearRect(0, 0, width, height);
    this.context.textBaseline = "middle";
    this.context.direction = "ltr";
    for (const box of scene.boxes)
      if (box.y < top + height && box.y + box.height > top) this.paintBox(scene, box, box.y - top);
  }

  outline({ x, y, width, height }: Box, thickness: number, top: number): void {
    this.context.lineWidth = thickness;
    this.context.strokeStyle = cssOf(this.palette.ink);
    const [inset, gap] = [thickness / 2, thickness + 1];
    const [inner, high] = [Math.max(width - gap, 0.5), Math.max(height - gap, 0.5)];
    this.context.strokeRect(x + inset, y - top + inset, inner, high);
  }

  private paintBox(scene: Scene, box: Box, y: number): void {
    const colour = this.colour(scene, box);
    const gap = box.width > 3 && box.height > 3 ? 1 : 0;
    this.context.fillStyle = cssOf(this.palette.ground);
    if (gap > 0) this.context.fillRect(box.x, y, box.width, box.height);
    this.context.fillStyle = cssOf(colour);
    this.context.fillRect(box.x, y, Math.max(box.width - gap, 0.5), box.height - gap);
    if (box.kind === "rest") return;
    if (isMatch(scene, box)) this.outline(box, 1, box.y - y);
    if (box.width >= LEAST_LABEL.width && box.height >= LEAST_LABEL.height)
      this.label(scene.account, box, y, colour);
  }

  private colour({ account, found }: Scene, { node, kind, depth }: Box): Colour {
    const isFaded = found !== undefined && found.isWithin[node] === 0;
    const shown = kind === "parent" ? OF_PARENT[depth % 2]! : 1;
    const share = isFaded ? Math.min(shown, FADED) : shown;
    return mixed(account.colourOf(node, this.palette), this.palette.ground, share);
  }

  private label(account: Account, { node, from, ...box }: Box, y: number, on: Colour): void {
    const { outline } = account.tree;
    const isUser = outline.isUser[outline.name[node]!]!;
    const path = pathTo(outline, node, from);
    const way = path.map((at) => nameOf(outline, at)).join(" › ");
    // For a stack the end of a path says more, for a module its beginning.
    const least = outline.by === "stack" ? nameOf(outline, node) : way;
    const texts = [`${way}  ${account.figureOf(node)}`, way, least];
    const labels = isUser ? this.bold : this.plain;
    const text = labels.first(texts, box.width - 2 * PADDING);
    if (text === "") return;
    this.context.font = isUser ? BOLD : FONT;
    this.context.fillStyle = inkOn(on);
    this.context.fillText(text, box.x + PADDING, y + Math.min(MIDDLE_OF_LINE, box.height / 2));
  }
}
