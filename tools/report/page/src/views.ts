// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The views of a run, each in a section of its own.

import { followAddress } from "./address.ts";
import { Held } from "./holders/held.ts";
import { HoldersView } from "./holders/holders.ts";
import { beginning, stateOf, textOf } from "./link.ts";
import { MapView } from "./map/map.ts";
import { translated } from "./messages.ts";
import type { Run } from "./model.ts";
import { painted, section } from "./section.ts";
import { Store } from "./state.ts";
import { missingAt } from "./timeline/missing.ts";
import { TimelineView } from "./timeline/timeline.ts";

/** The timeline replaces `picture`; the other views are placed before `end`. */
export async function addViews(run: Run, picture: Element, end: Element): Promise<void> {
  const store = new Store(stateOf(location.hash.slice(1), run) ?? beginning(run));
  const timeline = section("timeline", translated("MEMORY OVER THE RUN"));
  const map = section("map", translated("MEMORY MAP AT THE MOMENT"));
  const holders = section("flame", translated("WHO HOLDS THE MEMORY AT THE MOMENT"));
  picture.after(timeline.section);
  picture.classList.add("replaced");
  end.before(map.section, holders.section);
  new TimelineView(timeline.host, run, store);
  performance.mark("timeline"); // read by bench/page_views.ts, as the next
  await painted();
  const missing = (card: number, event: number): number => missingAt(run, card, event);
  new HoldersView(holders.host, new Held(run, store, missing));
  await painted();
  new MapView(map.host, run, store, missing);
  performance.mark("views");
  followAddress([store], {
    write: () => textOf(store.state, run),
    read: (text) => {
      const state = stateOf(text, run);
      if (state) store.set(state);
    },
  });
}
