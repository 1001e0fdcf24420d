// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Three runs: all layers checkpointed, some of them, and the unchanged program.
import type { Frontier } from "#page/frontier/frontier.ts";

export const FRONTIER: Frontier = {
  points: [
    { x: 120, y: 50, words: "gradient checkpointing: needs 40.00 GiB." },
    { x: 500, y: 180, words: "gradient checkpointing of 9 of 32 layers: needs 60.00 GiB." },
    { x: 900, y: 280, words: "unchanged: needs 70.00 GiB." },
  ],
};
