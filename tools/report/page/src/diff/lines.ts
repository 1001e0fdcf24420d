// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Names of frames that are the same in both runs though lines have moved.

type Names = readonly string[];

interface Line {
  readonly place: string; // the frame without its line: "train.py main"
  readonly line: string;
}

/** Undefined of a frame without a line. */
function lineOf(name: string): Line | undefined {
  const found = /^([^ ]+):(\d+)( .*)?$/.exec(name);
  return found ? { place: `${found[1]!}${found[3] ?? ""}`, line: found[2]! } : undefined;
}

function linesByPlace(names: Names): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const found of names.map(lineOf)) {
    if (!found) continue;
    const lines = places.get(found.place) ?? new Set<string>();
    places.set(found.place, lines.add(found.line));
  }
  return places;
}

/** Lines that both runs go through, or one of them more of: nothing tells that they moved. */
function isAsBefore(before: Set<string>, after: Set<string>): boolean {
  const [fewer, more] = before.size < after.size ? [before, after] : [after, before];
  return [...fewer].every((line) => more.has(line));
}

/** Names without the lines of functions in which lines have moved. */
export function withoutMovedLines(before: Names, after: Names): [string[], string[]] {
  const [was, is] = [linesByPlace(before), linesByPlace(after)];
  const named = (name: string): string => {
    const place = lineOf(name)?.place;
    const [lines, now] = [was.get(place ?? ""), is.get(place ?? "")];
    return !place || !lines || !now || isAsBefore(lines, now) ? name : place;
  };
  return [before.map(named), after.map(named)];
}
