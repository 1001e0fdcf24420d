// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// What both sides show in the same way.

import type { State, Store } from "../state.ts";

const COMMON = ["by", "tree", "shape", "search"] as const satisfies readonly (keyof State)[];

/** What is chosen on one side is chosen on the other. */
export function tie(one: Store, other: Store): void {
  follow(one, other);
  follow(other, one);
}

function follow(leader: Store, follower: Store): void {
  leader.listen(({ by, tree, shape, search }, before) => {
    const now = { by, tree, shape, search };
    if (COMMON.some((key) => now[key] !== before[key])) follower.set(now);
  });
}
