// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares pictures of pages with the stored ones.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

/** Share of all pixels: fonts and browsers smooth edges in their own ways. */
const TOLERATED = 0.01;
/** Share of a colour's range, per pixel. */
const THRESHOLD = 0.2;

/**
 * Fails if more than 1 % of the pixels differ, and leaves the picture and the difference in the
 * build folder. MEMTRACE_REFRESH_GOLDENS=1 keeps the picture instead.
 */
export function compare(seen: Buffer, golden: string): void {
  if (process.env["MEMTRACE_REFRESH_GOLDENS"]) {
    mkdirSync(dirname(golden), { recursive: true });
    writeFileSync(golden, seen);
    return;
  }
  assert.ok(existsSync(golden), `there is no ${golden}; MEMTRACE_REFRESH_GOLDENS=1 makes it`);
  const [is, was] = [PNG.sync.read(seen), PNG.sync.read(readFileSync(golden))];
  const width = Math.min(is.width, was.width);
  const height = Math.min(is.height, was.height);
  const [a, b] = [cropped(is, width, height), cropped(was, width, height)];
  const difference = new PNG({ width, height });
  const differing = pixelmatch(a.data, b.data, difference.data, width, height, {
    threshold: THRESHOLD,
  });
  // A page may be some lines longer or shorter with another font, but not much more.
  const longer = Math.abs(is.height - was.height) / was.height;
  const share = differing / (width * height);
  const isSame = is.width === was.width && longer <= TOLERATED && share <= TOLERATED;
  const left = isSame ? "" : keep(golden, seen, PNG.sync.write(difference));
  assert.ok(
    isSame,
    `${(share * 100).toFixed(2)} % of the pixels differ from ${golden}; see ${left}`,
  );
}

function cropped(of: PNG, width: number, height: number): PNG {
  const part = new PNG({ width, height });
  PNG.bitblt(of, part, 0, 0, width, height, 0, 0);
  return part;
}

function keep(golden: string, seen: Buffer, difference: Buffer): string {
  const folder = process.env["MEMTRACE_BUILD"] ?? dirname(golden);
  const name = golden.slice(golden.lastIndexOf("/") + 1, -4);
  writeFileSync(`${folder}/${name}.seen.png`, seen);
  writeFileSync(`${folder}/${name}.difference.png`, difference);
  return `${folder}/${name}.seen.png and ${name}.difference.png`;
}
