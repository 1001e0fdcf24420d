// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Says what the points of the drawn frontier are, to the pointer and to the keyboard.

import { drawn, element, say, uniqueId } from "../dom.ts";
import { translated } from "../messages.ts";
import { type Frontier, moved, nearest } from "./frontier.ts";

const KEYS = translated(
  "Arrow keys move between runs by the memory that they need, Home and End to the first and the last.",
);

export class FrontierView {
  private readonly frontier: Frontier;
  private readonly picture: SVGSVGElement;
  private readonly mark = drawn("circle", { class: "mark", r: 11, "aria-hidden": true });
  private readonly line = element("p", { class: "line", "aria-live": "polite" });
  private index: number | null = null;

  /** `figure` is what DrawFrontier() made; the view adds to it. */
  constructor(figure: HTMLElement, frontier: Frontier) {
    this.frontier = frontier;
    this.picture = figure.querySelector(".wide > svg")!;
    const keys = element("p", { class: "note", id: uniqueId("frontier-keys"), text: KEYS });
    this.picture.setAttribute("role", "application");
    this.picture.setAttribute("tabindex", "0");
    this.picture.setAttribute("aria-describedby", keys.id);
    figure.append(this.line, keys);
    this.listen();
  }

  private listen(): void {
    this.picture.addEventListener("keydown", (event) => this.onKey(event));
    this.picture.addEventListener("focus", () => this.show(this.index ?? 0));
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("click", (event) => this.point(event));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = moved(this.frontier, this.index ?? 0, event.key);
    if (to === null) return;
    event.preventDefault();
    this.show(to);
  }

  private point({ clientX, clientY }: MouseEvent): void {
    const inverse = this.picture.getScreenCTM()?.inverse();
    if (!inverse) return;
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(inverse);
    this.show(nearest(this.frontier, x, y));
  }

  /** Marks a point and says what it is. */
  private show(index: number): void {
    const { x, y, words } = this.frontier.points[index]!;
    this.index = index;
    say(this.line, words);
    this.mark.setAttribute("cx", String(x));
    this.mark.setAttribute("cy", String(y));
    this.picture.append(this.mark);
  }
}
