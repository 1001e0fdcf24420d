// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The colours of page.css, for drawings on a canvas.

import { drawn } from "./dom.ts";

export type Colour = readonly [red: number, green: number, blue: number]; // 0 to 255

export const cssOf = ([red, green, blue]: Colour): string => `rgb(${red} ${green} ${blue})`;

/** Parses "rgb(47, 111, 222)", as browsers compute colours; black for anything else. */
export function colourOf(css: string): Colour {
  const [red = 0, green = 0, blue = 0] = (css.match(/[\d.]+/g) ?? []).map(Number);
  return [red, green, blue];
}

/** Returns `share` of `over` mixed with `under` for the rest. */
export function mixed(over: Colour, under: Colour, share: number): Colour {
  const channel = (i: 0 | 1 | 2): number => Math.round(over[i] * share + under[i] * (1 - share));
  return [channel(0), channel(1), channel(2)];
}

/** Returns the relative luminance of WCAG 2.2. */
function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

/** Returns black or white, whichever has the greater contrast; it is at least 4.58 to 1 on any colour. */
export function inkOn(colour: Colour): "#000" | "#fff" {
  // This is the luminance where (L + 0.05) / 0.05 equals 1.05 / (L + 0.05).
  return luminance(colour) > Math.sqrt(1.05 * 0.05) - 0.05 ? "#000" : "#fff";
}

/** The colours of the page's CSS, read once for each colour scheme. */
export class Palette {
  private readonly probe = drawn("rect");
  private readonly known = new Map<string, Colour>();
  private groundRead: Colour | undefined;
  private inkRead: Colour | undefined;

  /** `host`, which must be in the page, gets the probe; `onChange` is called to redraw. */
  constructor(host: Element, onChange: () => void) {
    host.append(drawn("svg", { class: "unseen", "aria-hidden": "true" }, [this.probe]));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      this.known.clear();
      this.groundRead = this.inkRead = undefined;
      onChange();
    });
  }

  /** Returns the fill of the class `k-<role>`. */
  role(role: string): Colour {
    let colour = this.known.get(role);
    if (colour === undefined) {
      this.probe.setAttribute("class", `k-${role}`);
      colour = colourOf(getComputedStyle(this.probe).fill);
      this.known.set(role, colour);
    }
    return colour;
  }

  get ground(): Colour {
    const read = (): Colour => colourOf(getComputedStyle(document.documentElement).backgroundColor);
    return (this.groundRead ??= read());
  }

  get ink(): Colour {
    return (this.inkRead ??= colourOf(getComputedStyle(document.documentElement).color));
  }
}
