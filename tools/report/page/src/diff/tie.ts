// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Keeps the choices of both sides the same.

import type { State, Store } from "../state.ts";

const COMMON = ["by", "tree", "shape", "search"] as const satisfies readonly (keyof State)[];

/** A choice on one side also applies to the other. */
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
