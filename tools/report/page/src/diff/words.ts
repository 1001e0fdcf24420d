// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The words about a difference.

import { MISSING_ROLE } from "../holders/outline.ts";
import type { Found } from "../holders/search.ts";
import { mainRole } from "../holders/tree.ts";
import { counted, formatShare } from "../holders/words.ts";
import { formatBytes, formatCount, formatExact } from "../text.ts";
import { bytesOfMatches, type Change, changeOf, type Difference } from "./difference.ts";

/** Returns "+1.5 MiB" or "-17 bytes". */
export function formatChange(bytes: number): string {
  return `${bytes > 0 ? "+" : ""}${formatBytes(bytes)}`;
}

/** Returns "new 1.5 MiB", "gone 1.5 MiB" or "+1.5 MiB"; the size itself if it did not change. */
export function figureOf({ before, after }: Change): string {
  if (after === before) return formatBytes(after);
  if (before === 0) return `new ${formatBytes(after)}`;
  return after === 0 ? `gone ${formatBytes(before)}` : formatChange(after - before);
}

/** Returns "+1.0 MiB (50 % more)", "-1.0 MiB (50 % less)" or "+9.0 MiB (10.0 times as much)". */
function changeWords({ before, after }: Change): string {
  const change = after - before;
  const share = `${formatShare(Math.abs(change), before)} ${change > 0 ? "more" : "less"}`;
  const times = `${(after / before).toFixed(1)} times as much`;
  return `${formatChange(change)} (${after < 2 * before ? share : times})`;
}

/** Returns the text after a node's name. */
export function changedWords(difference: Difference, node: number): string {
  const change = changeOf(difference, node);
  const { before, after } = change;
  const [blocksBefore, blocksAfter] = [difference.before, difference.after].map(({ blocks }) =>
    node === difference.outline.missing ? "" : ` in ${counted(blocks[node]!, "block", "blocks")}`,
  );
  const role = roleWords(difference, node);
  if (after === before) return `${sameWords(difference, node)}${blocksAfter}${role}`;
  if (before === 0) return `new, ${formatExact(after)}${blocksAfter}${role}`;
  if (after === 0) return `gone, ${formatExact(before)}${blocksBefore}${role}`;
  const from = `${formatBytes(before)}${blocksBefore} before`;
  return `${changeWords(change)}: ${from}, ${formatBytes(after)}${blocksAfter} after${role}`;
}

/** Describes an even change: below the node, as much may have come as gone. */
function sameWords({ bytes, after }: Difference, node: number): string {
  const held = after.bytes[node]!;
  if (held === 0 && bytes[node] === 0) return "nothing";
  return bytes[node] === held
    ? `as before, ${formatExact(held)}`
    : `as much as before, though not of the same, ${formatExact(held)}`;
}

/** Names the main role of the bytes after, or before if there are none after. */
function roleWords({ before, after }: Difference, node: number): string {
  const side = after.bytes[node]! > 0 ? after : before;
  const { role, bytes } = mainRole(side, node);
  if (role === MISSING_ROLE || bytes === 0) return "";
  const whole = side.bytes[node]!;
  return bytes === whole ? `, ${role}` : `, ${role} ${formatShare(bytes, whole)} of it`;
}

/** Returns "2 matches, 1.0 MiB before, 1.5 MiB after (+512.0 KiB)". */
export function matchWords(difference: Difference, found: Found): string {
  if (found.matches === 0) return "no match";
  const { before, after } = bytesOfMatches(difference, found);
  const matches = counted(found.matches, "match", "matches");
  const change = after === before ? "as before" : formatChange(after - before);
  return `${matches}, ${formatBytes(before)} before, ${formatBytes(after)} after (${change})`;
}

/** Describes a side: "run.trace, card 0 after event 12,345 · 3.20 s · step 2, backward". */
export function sideWords(file: string, card: number, position: string): string {
  return `${file}, card ${formatCount(card)} after ${position}`;
}

/** Returns text for a legend: "grew by 1.5 MiB, 1.0 MiB of it new". */
export function sumWords(verb: string, bytes: number, whole: string, ofIt: number): string {
  if (bytes === 0) return `nothing ${verb}`;
  const [sum, part] = [formatBytes(bytes), formatBytes(ofIt)];
  if (ofIt === 0) return `${verb} by ${sum}`;
  if (ofIt === bytes) return `${verb} by ${sum}, all of it ${whole}`;
  return `${verb} by ${sum}, ${part === sum ? "nearly all" : part} of it ${whole}`;
}
