// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Matches names of frames in both runs even if lines have moved.

type Names = readonly string[];

interface Line {
  readonly place: string; // the frame without its line: "train.py main"
  readonly line: string;
}

/** Returns undefined for a frame without a line. */
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

/** True if the lines of one run include those of the other: then nothing shows that lines moved. */
function isAsBefore(before: Set<string>, after: Set<string>): boolean {
  const [fewer, more] = before.size < after.size ? [before, after] : [after, before];
  return [...fewer].every((line) => more.has(line));
}

/** Returns names without lines for functions in which lines have moved. */
export function withoutMovedLines(before: Names, after: Names): [string[], string[]] {
  const [was, is] = [linesByPlace(before), linesByPlace(after)];
  const named = (name: string): string => {
    const place = lineOf(name)?.place;
    const [lines, now] = [was.get(place ?? ""), is.get(place ?? "")];
    return !place || !lines || !now || isAsBefore(lines, now) ? name : place;
  };
  return [before.map(named), after.map(named)];
}
