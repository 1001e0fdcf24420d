// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The picture of a tree: a canvas the size of its visible part, in an element that scrolls.

import { Palette } from "../colours.ts";
import { element } from "../dom.ts";
import { oncePerFrame } from "../frames.ts";
import type { Account } from "./account.ts";
import { type Box, boxAt, flameBoxes, flameRows } from "./layout.ts";
import { Painter } from "./painter.ts";
import type { Found } from "./search.ts";
import { treemapOf } from "./treemap.ts";

export interface View {
  readonly account: Account;
  readonly root: number; // the zoomed node
  readonly shape: "flame" | "treemap";
  readonly found: Found | undefined;
}

/** Marked nodes; -1 is none. */
export interface Marks {
  readonly focused: number;
  readonly hovered: number;
}

const ROW = 20; // pixels
const LEAST_WIDTH = 0.5; // pixels of a box that is drawn
const LEAST_ROWS = 6;

export class Graph {
  readonly canvas = element("canvas", { role: "img" });
  private readonly host: HTMLElement;
  private readonly below = element("div"); // as high as the part without canvas
  private readonly painter: Painter;
  private readonly context: CanvasRenderingContext2D;
  private readonly repaint = oncePerFrame(() => this.paint());
  private view: View | undefined;
  private boxes: readonly Box[] = [];
  private sameAs: ReadonlyMap<number, number> = new Map();
  private boxOf = new Map<number, Box>();
  private marks: Marks = { focused: -1, hovered: -1 };
  private highest = 0; // rows; kept while time moves, or everything below would jump

  /** `host` scrolls; its style limits its height. */
  constructor(host: HTMLElement) {
    this.host = host;
    this.context = this.canvas.getContext("2d")!;
    host.append(this.canvas, this.below);
    this.painter = new Painter(this.context, new Palette(host, this.repaint));
    host.addEventListener("scroll", this.repaint);
    new ResizeObserver(() => this.layOut()).observe(host);
  }

  show(view: View): void {
    const isOther =
      view.root !== this.view?.root ||
      view.shape !== this.view.shape ||
      view.account.tree.outline !== this.view.account.tree.outline;
    this.view = view;
    if (isOther) this.highest = 0;
    if (isOther) this.host.scrollTop = 0;
    this.layOut();
  }

  /** Scrolls to the focused node. */
  mark(marks: Marks): void {
    const { focused, hovered } = this.marks;
    if (marks.focused === focused && marks.hovered === hovered) return;
    this.marks = marks;
    if (marks.focused !== focused) this.reveal(marks.focused);
    this.repaint();
  }

  /** Returns the node at a point of the window; -1: none. */
  nodeAt(clientX: number, clientY: number): number {
    const { left, top } = this.canvas.getBoundingClientRect();
    const y = clientY - top + this.host.scrollTop;
    return boxAt(this.boxes, clientX - left, y)?.node ?? -1;
  }

  private layOut(): void {
    const width = this.host.clientWidth;
    if (!this.view || width === 0) return;
    const most = parseFloat(getComputedStyle(this.host).maxHeight);
    const isFlame = this.view.shape === "flame";
    const whole = isFlame ? this.layOutFlame(width) : this.layOutTreemap(width, most);
    const height = Math.min(whole, most);
    this.canvas.style.height = `${height}px`;
    this.below.style.height = `${whole - height}px`;
    this.boxOf = new Map(this.boxes.map((box) => [box.node, box]));
    this.paint();
  }

  private layOutFlame(width: number): number {
    const { root, account } = this.view!;
    const { tree } = account;
    const rows = flameRows(tree, root, LEAST_WIDTH / width);
    this.boxes = flameBoxes(rows, width, ROW);
    this.sameAs = new Map();
    this.highest = Math.max(this.highest, (rows.at(-1)?.depth ?? 0) + 1, LEAST_ROWS);
    return this.highest * ROW;
  }

  private layOutTreemap(width: number, height: number): number {
    const { root, account } = this.view!;
    const { boxes, sameAs } = treemapOf(account.tree, root, { x: 0, y: 0, width, height });
    [this.boxes, this.sameAs] = [boxes, sameAs];
    return height;
  }

  /** Returns the box of a node, or of its nearest ancestor that has one. */
  private boxOfNode(node: number): Box | undefined {
    const { parent } = this.view!.account.tree.outline;
    for (let at = node; at >= 0; at = parent[at]!) {
      const box = this.boxOf.get(this.sameAs.get(at) ?? at);
      if (box) return box;
    }
    return undefined;
  }

  private reveal(node: number): void {
    const box = this.view?.shape === "flame" ? this.boxOfNode(node) : undefined;
    if (!box) return;
    const { scrollTop, clientHeight } = this.host;
    const bottom = box.y + box.height;
    if (box.y < scrollTop) this.host.scrollTop = box.y;
    else if (bottom > scrollTop + clientHeight) this.host.scrollTop = bottom - clientHeight;
  }

  private paint(): void {
    if (!this.view) return;
    const width = this.host.clientWidth;
    const height = parseFloat(this.canvas.style.height);
    this.resize(width, height, window.devicePixelRatio || 1);
    const top = this.host.scrollTop;
    const { account, found } = this.view;
    this.painter.paint({ account, boxes: this.boxes, found }, { top, width, height });
    const hovered = this.boxOfNode(this.marks.hovered);
    const focused = this.boxOfNode(this.marks.focused);
    if (hovered) this.painter.outline(hovered, 1, top);
    if (focused) this.painter.outline(focused, 2, top);
  }

  /** Resizes only if the size differs, because resizing clears a canvas and takes time. */
  private resize(width: number, height: number, scale: number): void {
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (this.canvas.width !== wide) this.canvas.width = wide;
    if (this.canvas.height !== high) this.canvas.height = high;
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
  }
}
