// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The bytes at the upper end of all timelines that share a scale.

export class Scale {
  private readonly needs = new Map<object, number>();
  private readonly listeners: ((top: number) => void)[] = [];
  private shared = 0;

  get top(): number {
    return this.shared;
  }

  /** Registers that one of them needs to show bytes up to `top`. */
  need(who: object, top: number): void {
    this.needs.set(who, top);
    const most = Math.max(...this.needs.values());
    if (most === this.shared) return;
    this.shared = most;
    for (const listener of this.listeners) listener(most);
  }

  listen(listener: (top: number) => void): void {
    this.listeners.push(listener);
  }
}
