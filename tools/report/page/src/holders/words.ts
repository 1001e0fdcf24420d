// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of the holders' graph.

import { counted, listed, translated } from "../messages.ts";
import { isExact } from "../moment.ts";
import { roleWords } from "../names.ts";
import type { State } from "../state.ts";
import { formatBytes, formatCount, formatExact } from "../text.ts";
import { MISSING_ROLE, nameOf, pathTo, ROOT } from "./outline.ts";
import type { Found } from "./search.ts";
import { type Holdings, mainRole, type Moment, type Tree } from "./tree.ts";

/** Returns "41 %" or "4.1 %"; only the whole is 100 %, and only nothing is 0 %. */
export function formatShare(part: number, whole: number): string {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  if (percent === 0) return "0 %";
  if (percent < 0.1) return translated("under 0.1 %");
  if (percent < 9.95) return `${percent.toFixed(1)} %`;
  return percent < 99.5 || part === whole ? `${percent.toFixed(0)} %` : translated("over 99 %");
}

/** Returns the main role of a node's bytes; "" if nothing is known of them. */
export function mainRoleWords(tree: Holdings, node: number): string {
  const { role, bytes } = mainRole(tree, node);
  if (role === MISSING_ROLE) return "";
  const whole = tree.bytes[node]!;
  const words = roleWords(role);
  return bytes === whole ? words : translated("$0 ($1 of it)", words, formatShare(bytes, whole));
}

/** Returns a frame's own name, or the full path of a module, because modules share names. */
export function wholeName({ outline }: Tree, node: number): string {
  if (outline.by === "stack" || node === ROOT) return nameOf(outline, node);
  const way = pathTo(outline, node).slice(1);
  return way.map((at) => nameOf(outline, at)).join(" › ");
}

/** Returns the text after a node's name. */
export function figuresOf(tree: Holdings, node: number): string {
  const bytes = tree.bytes[node]!;
  const total = tree.bytes[ROOT]!;
  if (total === 0) return translated("nothing");
  const share = translated("$0 of $1", formatShare(bytes, total), formatBytes(total));
  if (node === tree.outline.missing) return listed(formatExact(bytes), share);
  const count = tree.blocks[node]!;
  const blocks = counted(count, "1 block", "$0 blocks", formatCount(count));
  return listed(formatExact(bytes), share, blocks, mainRoleWords(tree, node));
}

/** Returns "12 matches, 3.25 GiB (41 % of 7.90 GiB)". */
export function searchWords({ matches, bytes }: Found, total: number): string {
  if (matches === 0) return translated("no match");
  return counted(
    matches,
    "1 match, $0 ($1 of $2)",
    "$3 matches, $0 ($1 of $2)",
    formatBytes(bytes),
    formatShare(bytes, total),
    formatBytes(total),
    formatCount(matches),
  );
}

/** Returns "Flame graph by stack". */
export function kindWords({ shape, tree }: State): string {
  if (shape === "flame")
    return tree === "stack"
      ? translated("Flame graph by stack")
      : translated("Flame graph by module");
  return tree === "stack" ? translated("Treemap by stack") : translated("Treemap by module");
}

/** Returns the name of the picture. */
export function pictureWords(tree: Tree, { card, event }: Moment, state: State): string {
  const held = translated(
    "$0 in use on card $1 after event $2",
    formatExact(tree.bytes[ROOT]!),
    card.index,
    formatCount(event),
  );
  return translated("$0: $1", kindWords(state), held);
}

/** Returns "" if every block is in the tree. */
export function missingWords({ card, event }: Moment): string {
  if (isExact(card, event)) return "";
  return translated(
    "At this moment, only the sum of the blocks smaller than $0 is known.",
    formatBytes(card.leastBytes),
  );
}

/** Returns the nodes of a breadcrumb: the first, and the last of a long path; null stands for the rest. */
export function crumbsOf(path: readonly number[], most = 6): (number | null)[] {
  if (path.length <= most) return [...path];
  return [path[0]!, null, ...path.slice(2 - most)];
}
