// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Colours as the bytes of pixels.

import { type Colour, mixed } from "../colours.ts";

/** Pixels in ImageData's format, by index of a colour. */
export interface Inks {
  readonly plain: Uint32Array;
  readonly edge: Uint32Array; // for a block's first column: darker
}

const BLACK: Colour = [0, 0, 0];
const EDGE = 0.68; // share of a colour's light

/** The bytes of a pixel are red, green, blue, alpha; every machine with a browser is little-endian. */
function pixelOf([red, green, blue]: Colour): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

export function inksOf(colours: readonly Colour[]): Inks {
  return {
    plain: Uint32Array.from(colours, pixelOf),
    edge: Uint32Array.from(colours, (colour) => pixelOf(mixed(colour, BLACK, EDGE))),
  };
}
