// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Names, shortened to the room that they have.

const MOST = 200; // characters; a trace's names may have a megabyte
const MOST_KNOWN = 20_000;

export class Labels {
  private readonly measure: (text: string) => number;
  private readonly widths = new Map<string, number>();

  constructor(measure: (text: string) => number) {
    this.measure = measure;
  }

  /** `name`, or as much of its beginning as fits and an ellipsis; "" if that is less than two. */
  fitted(name: string, room: number): string {
    const text = name.length > MOST ? `${name.slice(0, MOST)}…` : name;
    const width = this.widthOf(text);
    if (width <= room) return text;
    let length = Math.floor((text.length * room) / width);
    while (length >= 2 && this.widthOf(`${text.slice(0, length)}…`) > room) --length;
    return length >= 2 ? `${text.slice(0, length)}…` : "";
  }

  private widthOf(text: string): number {
    let width = this.widths.get(text);
    if (width === undefined) {
      width = this.measure(text);
      if (this.widths.size >= MOST_KNOWN) this.widths.clear();
      this.widths.set(text, width);
    }
    return width;
  }
}
