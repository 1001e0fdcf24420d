// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The meaning of the layers' colours, and their bytes at a sample.

import { drawn, element } from "../dom.ts";
import type { Keys } from "../keys.ts";
import type { Run } from "../model.ts";
import { formatBytes } from "../text.ts";
import type { Usage } from "./usage.ts";

function entry(colour: string, words: string): HTMLLIElement {
  const swatch = drawn("svg", { viewBox: "0 0 1 1", "aria-hidden": "true" }, [
    drawn("rect", { class: `k-${colour}`, width: 1, height: 1 }),
  ]);
  return element("li", {}, [swatch, ` ${words}`]);
}

/** Returns the entries of keys that are visible anywhere. */
export function legendOf(keys: Keys, usage: Usage, sample: number): HTMLLIElement[] {
  return keys.labels.flatMap((label, i) => {
    const bytes = usage.keys[i]!;
    if (!bytes.some((value) => value > 0)) return [];
    return [entry(keys.colours[i]!, `${label} ${formatBytes(bytes[sample] ?? 0)}`)];
  });
}

/** Returns entries for the strip below the layers; empty if the trace has no phases. */
export function legendOfPhases(run: Run): HTMLLIElement[] {
  const names = [...new Set(run.phases.map(({ name }) => name))];
  return names.map((name) => entry(`phase_${name}`, name));
}
