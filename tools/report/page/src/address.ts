// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the page's address and the state the same.

import { stateOf, textOf } from "./link.ts";
import type { Run } from "./model.ts";
import type { Store } from "./state.ts";

const PAUSE_MS = 300; // browsers refuse many changes of the address a second

export function followAddress(run: Run, store: Store): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = (): void => {
    const text = textOf(store.state, run);
    if (text === location.hash.slice(1) || (text === "" && !location.hash.includes("="))) return;
    history.replaceState(null, "", text === "" ? location.pathname : `#${text}`);
  };
  store.listen(() => {
    clearTimeout(timer);
    timer = setTimeout(write, PAUSE_MS);
  });
  addEventListener("hashchange", () => {
    const state = stateOf(location.hash.slice(1), run);
    if (state) store.set(state);
  });
}
