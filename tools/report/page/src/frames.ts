// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Draws once a frame, however many changes there are in it.

/** Returns a function that schedules `task` before the next frame, once for all calls until then. */
export function oncePerFrame(task: () => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      task();
    });
  };
}
