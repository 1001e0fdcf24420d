// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The holders of the small run after event 10; tests set the page's `store`.
import { Held } from "#page/holders/held.ts";
import { HoldersView } from "#page/holders/holders.ts";
import { Store } from "#page/state.ts";
import { SMALL } from "../support/trees.ts";

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
new HoldersView(document.getElementById("host")!, new Held(SMALL, store));
Object.assign(globalThis, { store });
