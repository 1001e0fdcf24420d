// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words of the holders' graph.

import { isExact } from "../moment.ts";
import type { State } from "../state.ts";
import { formatBytes, formatCount, formatExact } from "../text.ts";
import { MISSING_ROLE, nameOf, pathTo, ROOT } from "./outline.ts";
import type { Found } from "./search.ts";
import { type Holdings, mainRole, type Moment, type Tree } from "./tree.ts";

/** Returns "41 %" or "4.1 %"; only the whole is 100 %, and only nothing is 0 %. */
export function formatShare(part: number, whole: number): string {
  const percent = whole > 0 ? (100 * part) / whole : 0;
  if (percent === 0) return "0 %";
  if (percent < 0.1) return "under 0.1 %";
  if (percent < 9.95) return `${percent.toFixed(1)} %`;
  return percent < 99.5 || part === whole ? `${percent.toFixed(0)} %` : "over 99 %";
}

export const counted = (count: number, one: string, many: string): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

function roleWords(tree: Holdings, node: number): string {
  const { role, bytes } = mainRole(tree, node);
  if (role === MISSING_ROLE) return "";
  const whole = tree.bytes[node]!;
  return bytes === whole ? `, ${role}` : `, ${role} ${formatShare(bytes, whole)} of it`;
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
  if (total === 0) return "nothing";
  const share = `${formatExact(bytes)}, ${formatShare(bytes, total)} of ${formatBytes(total)}`;
  if (node === tree.outline.missing) return share;
  const blocks = counted(tree.blocks[node]!, "block", "blocks");
  return `${share}, ${blocks}${roleWords(tree, node)}`;
}

/** Returns "12 matches, 3.25 GiB (41 % of 7.90 GiB)". */
export function searchWords(found: Found, total: number): string {
  if (found.matches === 0) return "no match";
  const share = `${formatShare(found.bytes, total)} of ${formatBytes(total)}`;
  const matches = counted(found.matches, "match", "matches");
  return `${matches}, ${formatBytes(found.bytes)} (${share})`;
}

/** Returns "Flame graph by stack". */
export function kindWords({ shape, tree }: State): string {
  return `${shape === "flame" ? "Flame graph" : "Treemap"} by ${tree}`;
}

/** Returns the name of the picture. */
export function pictureWords(tree: Tree, { card, event }: Moment, state: State): string {
  const total = formatExact(tree.bytes[ROOT]!);
  return `${kindWords(state)} of ${total} in use on card ${card.index} after event ${formatCount(event)}`;
}

/** Returns "" if every block is in the tree. */
export function missingWords({ card, event }: Moment): string {
  if (isExact(card, event)) return "";
  const least = formatBytes(card.leastBytes);
  return `Of this moment, blocks of less than ${least} are known by their sum alone.`;
}

/** Returns the nodes of a breadcrumb: the first, and the last of a long path; null stands for the rest. */
export function crumbsOf(path: readonly number[], most = 6): (number | null)[] {
  if (path.length <= most) return [...path];
  return [path[0]!, null, ...path.slice(2 - most)];
}
