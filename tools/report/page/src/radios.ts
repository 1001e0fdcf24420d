// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Radio buttons that choose one of several values of a part of the state.

import { element, uniqueId } from "./dom.ts";
import type { State, Store } from "./state.ts";

export interface Choice<K extends keyof State> {
  readonly key: K;
  readonly title: string; // title of the group, for screen readers
  readonly name: string; // name of the inputs
  readonly options: readonly (readonly [value: State[K], words: string])[];
}

export function radios<K extends keyof State>(
  store: Store,
  { key, title, name, options }: Choice<K>,
): HTMLFieldSetElement {
  const group = uniqueId(name);
  const choices = options.map(([value, words]) => {
    const input = element("input", { type: "radio", name: group, value: String(value) });
    const update = (state: State): void => void (input.checked = state[key] === value);
    input.addEventListener("change", () => store.set({ [key]: value }));
    store.listen(update);
    update(store.state);
    return element("label", {}, [input, words]);
  });
  return element("fieldset", {}, [element("legend", { class: "unseen", text: title }), ...choices]);
}
