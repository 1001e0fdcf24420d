// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Says what the cells of the drawn ranks are, to the pointer and to the keyboard.

import { drawn, element, say, uniqueId } from "../dom.ts";
import { translated } from "../messages.ts";
import { type Cell, cellAt, moved, type Ranks } from "./ranks.ts";
import { cellWords, type CellWords } from "./words.ts";

const KEYS = translated(
  "Arrow keys move between ranks, Page Up and Page Down to the first and the last row. " +
    "Enter or a click opens the page of a rank that has one.",
);

/** The name of a file beside this page as an address: it is never more than a name. */
const addressOf = (page: string): string => `./${encodeURIComponent(page)}`;

export class RanksView {
  private readonly ranks: Ranks;
  private readonly picture: SVGSVGElement;
  private readonly mark = drawn("rect", { class: "mark", "aria-hidden": true });
  private readonly line = element("p", { class: "line", "aria-live": "polite" });
  private readonly link = element("a", { text: translated("Open its page") });
  private cell: Cell | null = null;

  /** `figure` is what DrawRanks() made; the view adds to it. */
  constructor(figure: HTMLElement, ranks: Ranks) {
    this.ranks = ranks;
    this.picture = figure.querySelector("svg")!;
    const keys = element("p", { class: "note", id: uniqueId("rank-keys"), text: KEYS });
    this.picture.append(this.mark);
    this.picture.setAttribute("role", "application");
    this.picture.setAttribute("tabindex", "0");
    this.picture.setAttribute("aria-describedby", keys.id);
    const told = element("div", { class: "told" }, [this.line, this.link]);
    figure.append(told, keys);
    this.link.hidden = true;
    this.listen();
  }

  private listen(): void {
    this.picture.addEventListener("keydown", (event) => this.onKey(event));
    this.picture.addEventListener("focus", () => this.show(this.cell ?? { row: 0, column: 0 }));
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("click", (event) => {
      if (this.point(event)) this.open();
    });
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter") return this.open();
    const to = moved(this.ranks.cells, this.cell ?? { row: 0, column: 0 }, event.key);
    if (!to) return;
    event.preventDefault();
    this.show(to);
  }

  /** Shows the cell at the pointer; beside the cells the last one stays. */
  private point(event: MouseEvent): boolean {
    const cell = this.cellOf(event);
    if (cell) this.show(cell);
    return cell !== null;
  }

  private cellOf({ clientX, clientY }: MouseEvent): Cell | null {
    const inverse = this.picture.getScreenCTM()?.inverse();
    if (!inverse) return null;
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(inverse);
    return cellAt(this.ranks.cells, x, y);
  }

  /** Marks a cell and says what it is. A cell without a rank changes nothing. */
  private show(cell: Cell): void {
    const words = cellWords(this.ranks, cell);
    if (!words) return;
    this.cell = cell;
    say(this.line, words.text);
    this.showLink(words);
    const { left, top, width, height } = this.ranks.cells;
    const place = { x: left + cell.column * width, y: top + cell.row * height, width, height };
    for (const [name, value] of Object.entries(place)) this.mark.setAttribute(name, String(value));
  }

  private showLink({ page }: CellWords): void {
    this.link.hidden = page === "";
    this.link.href = addressOf(page);
    this.picture.classList.toggle("opens", !this.link.hidden);
  }

  private open(): void {
    if (!this.link.hidden) this.link.click();
  }
}
