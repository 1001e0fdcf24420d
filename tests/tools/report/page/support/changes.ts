// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Two small runs, and the changes between them.

import { differenceOf, type Difference } from "#page/diff/difference.ts";
import { joined, sidesOf } from "#page/diff/joined.ts";
import { nameOf, outlineOf, ROOT } from "#page/holders/outline.ts";
import { childrenAt, treeAt } from "#page/holders/tree.ts";
import type { Run } from "#page/model.ts";
import { card, origin, pieces, run, stacks } from "./runs.ts";
import { SMALL } from "./trees.ts";

/** Like SMALL, but main calls from another line, update is gone, and forward holds 90 bytes and a cache 5. */
export const LATER: Run = run({
  origins: [
    origin({ role: "kv_cache", stack: 4, module: "cache", site: "keep" }),
    origin({ role: "activation", stack: 3, module: "layers.0.mlp", site: "forward" }),
    origin({ role: "unknown", site: "(in forward)" }),
  ],
  stacks: stacks(
    [0, "main.py:9 main", true],
    [1, "train.py:2 step", true],
    [2, "linear.py:3 forward"],
    [2, "cache.py:5 keep"],
  ),
  cards: [
    card({
      pieces: pieces(
        { born: 1, address: 0, bytes: 90, origin: 1 },
        { born: 2, address: 100, bytes: 5, origin: 0 },
        { born: 3, address: 200, bytes: 10, origin: 2 },
      ),
    }),
  ],
});

export function differenceAt(
  before: Run,
  after: Run,
  by: "stack" | "module" = "stack",
  events: readonly [number, number] = [10, 10],
): Difference {
  const outline = outlineOf(joined(before, after), by);
  const [was, is] = sidesOf(outline, before, after);
  return differenceOf(
    treeAt(was, { card: before.cards[0]!, event: events[0], missing: 0 }),
    treeAt(is, { card: after.cards[0]!, event: events[1], missing: 0 }),
  );
}

export const SMALL_TO_LATER = differenceAt(SMALL, LATER);

/** Returns a line for each node: "  name before -> after of its width". */
export function changeLines(of: Difference, node = ROOT, indent = ""): string[] {
  const [before, after] = [of.before.bytes[node], of.after.bytes[node]];
  const line = `${indent}${nameOf(of.outline, node)} ${before} -> ${after} of ${of.bytes[node]}`;
  return [line, ...childrenAt(of, node).flatMap((child) => changeLines(of, child, `${indent}  `))];
}
