// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the address of the page and the state in step.

import type { Store } from "./state.ts";

const PAUSE_MS = 300; // browsers refuse many changes of the address a second

export interface Link {
  /** The states as text; "" for the initial states. */
  write(): string;
  /** Sets the states if the text describes any. */
  read(text: string): void;
}

export function followAddress(stores: readonly Store[], link: Link): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = (): void => {
    const text = link.write();
    if (text === location.hash.slice(1) || (text === "" && !location.hash.includes("="))) return;
    history.replaceState(null, "", text === "" ? location.pathname : `#${text}`);
  };
  for (const store of stores)
    store.listen(() => {
      clearTimeout(timer);
      timer = setTimeout(write, PAUSE_MS);
    });
  addEventListener("hashchange", () => link.read(location.hash.slice(1)));
}
