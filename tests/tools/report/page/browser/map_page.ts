// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The memory of a small run whose request at event 10 fails; tests set the page's `store`.
import { MapView } from "#page/map/map.ts";
import { Store } from "#page/state.ts";
import { card, failure, MIB, origin, pieces, ranges, run, stacks } from "../support/runs.ts";

const RUN = run({
  origins: [
    origin({ role: "parameter", owner: "<b>model</b>", stack: 2 }),
    origin({ role: "activation" }),
  ],
  stacks: stacks([0, "train.py:7 step", true], [1, "linear.py:3 forward"]),
  cards: [
    card({
      mapped: ranges([0, 2 * MIB], [4 * MIB, 2 * MIB]),
      pieces: pieces(
        { born: 1, address: 0, bytes: MIB },
        { born: 2, address: MIB, bytes: MIB / 2, origin: 1, letGo: 12 },
        { born: 3, address: 4 * MIB, bytes: MIB, origin: 1, letGo: 8, gone: 20 },
      ),
      failures: [failure({ event: 10, requested: 3 * MIB, obtainable: MIB })],
      peak: { event: 5, bytes: 2.5 * MIB },
    }),
  ],
});
const store = new Store({
  card: 0,
  event: 10,
  from: 1,
  to: 100,
  by: "role",
  tree: "stack",
  shape: "flame",
  search: "",
  block: 0,
});
new MapView(document.getElementById("host")!, RUN, store);
Object.assign(globalThis, { store });
