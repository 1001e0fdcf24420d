// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Shortens names to the available room.

const MOST = 200; // characters; a trace's names may have a megabyte
const MOST_KNOWN = 20_000;

/** Returns "linear.py:3 forward" for "torch/nn/linear.py:3 forward", and "7" for "layers.7". */
const shortOf = (name: string): string =>
  name.replace(/^[^ ]*\//, "").replace(/^\w+\.(?=\d+$)/, "");

export class Labels {
  private readonly measure: (text: string) => number;
  private readonly widths = new Map<string, number>();

  constructor(measure: (text: string) => number) {
    this.measure = measure;
  }

  /** The first of `texts` that fits, or as much of the last of them as does. */
  first(texts: readonly string[], room: number): string {
    const fits = (text: string): boolean => text.length <= MOST && this.widthOf(text) <= room;
    return texts.find(fits) ?? this.fitted(texts.at(-1)!, room);
  }

  /** Returns `name`, or as much of its short form as fits; "" if that is too little. */
  fitted(name: string, room: number): string {
    const text = name.length > MOST ? `${name.slice(0, MOST)}…` : name;
    if (this.widthOf(text) <= room) return text;
    return this.cut(shortOf(text), room);
  }

  private cut(text: string, room: number): string {
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
