// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The views of a comparison: the changes, and both sides below each other.

import { followAddress } from "../address.ts";
import { element } from "../dom.ts";
import { Held } from "../holders/held.ts";
import { HoldersView } from "../holders/holders.ts";
import { MapView } from "../map/map.ts";
import { translated } from "../messages.ts";
import type { Run } from "../model.ts";
import { painted, section } from "../section.ts";
import { Store } from "../state.ts";
import { missingAt } from "../timeline/missing.ts";
import { Scale } from "../timeline/scale.ts";
import { TimelineView } from "../timeline/timeline.ts";
import { Changed } from "./changed.ts";
import { beginningOf, type Pair, statesOf, textOfPair } from "./pair_link.ts";
import type { Side } from "./side.ts";
import { tie } from "./tie.ts";

/** Returns a part of a section, for one side. */
function partOf(id: string, { name, run }: Side): { part: HTMLElement; host: HTMLElement } {
  const host = element("div");
  const heading = element("h3", { id: `h-${id}-${name}` }, [
    name === "before" ? translated("before: ") : translated("after: "),
    element("bdi", { class: "place", text: run.file }),
  ]);
  const labels = `h-${id} ${heading.id}`; // the side and the section's heading
  const part = element("section", { id: `${id}-${name}`, "aria-labelledby": labels }, [
    heading,
    host,
  ]);
  return { part, host };
}

/** A view that both sides have. */
interface Kind {
  readonly id: string;
  readonly title: string;
  readonly add: (host: HTMLElement, side: Side) => void;
}

function kindsOf(sides: Pair<Side>): Kind[] {
  const scale = new Scale();
  const [one, two] = sides.map(({ store }) => store);
  const isOne = sides[0].run.origins === sides[1].run.origins;
  const other = (store: Store): Store | undefined =>
    isOne ? (store === one ? two : one) : undefined;
  return [
    {
      id: "timeline",
      title: translated("MEMORY OVER THE RUNS"),
      add: (host, { run, store }) => new TimelineView(host, run, store, scale, other(store)),
    },
    {
      id: "map",
      title: translated("MEMORY MAP AT THE MOMENTS"),
      add: (host, { run, store, missing }) => new MapView(host, run, store, missing),
    },
    {
      id: "flame",
      title: translated("WHO HOLDS THE MEMORY AT THE MOMENTS"),
      add: (host, { name, run, store, missing }) => {
        const title =
          name === "before"
            ? translated("memory in use before")
            : translated("memory in use after");
        new HoldersView(host, new Held(run, store, missing, title));
      },
    },
  ];
}

/** Views exist as soon as they are added. */
function sectionOf({ id, title, add }: Kind, sides: Pair<Side>): Section {
  const both = section(id, title);
  const parts = sides.map((side) => ({ side, ...partOf(id, side) }));
  both.host.append(...parts.map(({ part }) => part));
  return {
    section: both.section,
    adds: parts.map(
      ({ side, host }) =>
        () =>
          add(host, side),
    ),
  };
}

interface Section {
  readonly section: HTMLElement;
  readonly adds: readonly (() => void)[];
}

function sidesOf(runs: Pair<Run>): Pair<Side> {
  const states = statesOf(location.hash.slice(1), runs) ?? beginningOf(runs);
  const side = (name: Side["name"], i: 0 | 1): Side => {
    const run = runs[i];
    const store = new Store(states[i]);
    return { name, run, store, missing: (card, event) => missingAt(run, card, event) };
  };
  return [side("before", 0), side("after", 1)];
}

function followBoth(sides: Pair<Side>, runs: Pair<Run>): void {
  const [{ store: before }, { store: after }] = sides;
  followAddress([before, after], {
    write: () => textOfPair([before.state, after.state], runs),
    read: (text) => {
      const states = statesOf(text, runs);
      if (!states) return;
      before.set(states[0]);
      after.set(states[1]);
    },
  });
}

/** `rows` are the changes in words; the views replace `pictures`. */
export async function addDiffViews(
  runs: Pair<Run>,
  rows: Element,
  pictures: Element,
): Promise<void> {
  const sides = sidesOf(runs);
  tie(sides[0].store, sides[1].store);
  const change = section("change", translated("WHAT CHANGED BETWEEN THE MOMENTS"));
  const sections = kindsOf(sides).map((kind) => sectionOf(kind, sides));
  rows.before(change.section);
  pictures.after(...sections.map(({ section }) => section));
  pictures.classList.add("replaced");
  new HoldersView(change.host, new Changed(...sides));
  for (const add of sections.flatMap(({ adds }) => adds)) {
    await painted();
    add();
  }
  followBoth(sides, runs);
}
