// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words about a difference.

import type { Found } from "../holders/search.ts";
import type { Holdings } from "../holders/tree.ts";
import { formatShare, mainRoleWords } from "../holders/words.ts";
import { counted, listed, translated } from "../messages.ts";
import { formatBytes, formatCount, formatExact } from "../text.ts";
import { bytesOfMatches, type Change, changeOf, type Difference } from "./difference.ts";

/** Returns "+1.5 MiB" or "-17 bytes". */
export function formatChange(bytes: number): string {
  return `${bytes > 0 ? "+" : ""}${formatBytes(bytes)}`;
}

/** Returns "new 1.5 MiB", "gone 1.5 MiB" or "+1.5 MiB"; the size itself if it did not change. */
export function figureOf({ before, after }: Change): string {
  if (after === before) return formatBytes(after);
  if (before === 0) return translated("new $0", formatBytes(after));
  if (after === 0) return translated("gone $0", formatBytes(before));
  return formatChange(after - before);
}

/** Returns "+1.0 MiB (50 % more)", "-1.0 MiB (50 % less)" or "+9.0 MiB (10.0 times as much)". */
function changeWords({ before, after }: Change): string {
  const change = after - before;
  const figure = formatChange(change);
  if (after >= 2 * before)
    return translated("$0 ($1 times as much)", figure, (after / before).toFixed(1));
  const share = formatShare(Math.abs(change), before);
  return change > 0
    ? translated("$0 ($1 more)", figure, share)
    : translated("$0 ($1 less)", figure, share);
}

/** Returns the text after a node's name. */
export function changedWords(difference: Difference, node: number): string {
  const side = difference.after.bytes[node]! > 0 ? difference.after : difference.before;
  return listed(bothWords(difference, node), mainRoleWords(side, node));
}

function bothWords(difference: Difference, node: number): string {
  const change = changeOf(difference, node);
  const { before, after } = change;
  const was = (bytes: string): string => amountWords(difference.before, node, bytes);
  const is = (bytes: string): string => amountWords(difference.after, node, bytes);
  if (after === before) return evenWords(difference, node, is(formatExact(after)));
  if (before === 0) return translated("new, $0", is(formatExact(after)));
  if (after === 0) return translated("gone, $0", was(formatExact(before)));
  return translated(
    "$0: $1 before, $2 after",
    changeWords(change),
    was(formatBytes(before)),
    is(formatBytes(after)),
  );
}

/** Returns "1.5 MiB in 3 blocks"; the blocks that are not listed are not counted. */
function amountWords({ blocks, outline }: Holdings, node: number, bytes: string): string {
  if (node === outline.missing) return bytes;
  const count = blocks[node]!;
  return counted(count, "$0 in 1 block", "$0 in $1 blocks", bytes, formatCount(count));
}

/** Describes an even change: below the node, as much may have come as gone. */
function evenWords({ bytes, after }: Difference, node: number, amount: string): string {
  const held = after.bytes[node]!;
  if (held === 0 && bytes[node] === 0) return translated("nothing");
  return bytes[node] === held
    ? translated("as before, $0", amount)
    : translated("as much as before, but not all of it the same, $0", amount);
}

/** Returns "2 matches, 1.0 MiB before, 1.5 MiB after (+512.0 KiB)". */
export function matchWords(difference: Difference, found: Found): string {
  const { matches } = found;
  if (matches === 0) return translated("no match");
  const { before, after } = bytesOfMatches(difference, found);
  return counted(
    matches,
    "1 match, $0 before, $1 after ($2)",
    "$3 matches, $0 before, $1 after ($2)",
    formatBytes(before),
    formatBytes(after),
    after === before ? translated("as before") : formatChange(after - before),
    formatCount(matches),
  );
}

/** Returns text for a legend: "grew by 1.5 MiB, 1.0 MiB of it new". */
export function growthWords(bytes: number, isNew: number): string {
  if (bytes === 0) return translated("nothing grew");
  const [sum, part] = [formatBytes(bytes), formatBytes(isNew)];
  if (isNew === 0) return translated("grew by $0", sum);
  if (isNew === bytes) return translated("grew by $0, all of it new", sum);
  if (part === sum) return translated("grew by $0, nearly all of it new", sum);
  return translated("grew by $0, $1 of it new", sum, part);
}

/** Returns "shrank by 1.5 MiB, 1.0 MiB of it gone". */
export function shrinkageWords(bytes: number, isGone: number): string {
  if (bytes === 0) return translated("nothing shrank");
  const [sum, part] = [formatBytes(bytes), formatBytes(isGone)];
  if (isGone === 0) return translated("shrank by $0", sum);
  if (isGone === bytes) return translated("shrank by $0, all of it gone", sum);
  if (part === sum) return translated("shrank by $0, nearly all of it gone", sum);
  return translated("shrank by $0, $1 of it gone", sum, part);
}

/** Returns "as before: 1.5 MiB". */
export function sameWords(bytes: number): string {
  if (bytes === 0) return translated("nothing is as before");
  return translated("as before: $0", formatBytes(bytes));
}
