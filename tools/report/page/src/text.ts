// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Quantities in words, as tools/report/words/quantity.h writes them.

import { counted, translated } from "./messages.ts";

const KIB = 2 ** 10;
const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** Returns "23.48 GiB", "1.5 MiB" or "17 bytes". */
export function formatBytes(bytes: number): string {
  if (bytes < 0) return `-${formatBytes(-bytes)}`;
  if (bytes >= GIB) return `${(bytes / GIB).toFixed(2)} GiB`;
  if (bytes >= MIB) return `${(bytes / MIB).toFixed(1)} MiB`;
  if (bytes >= KIB) return `${(bytes / KIB).toFixed(1)} KiB`;
  return counted(bytes, "1 byte", "$0 bytes", bytes);
}

/** Returns "1,234,567". */
export function formatCount(count: number): string {
  return Math.round(count).toLocaleString("en-US");
}

/** Returns "1,610,612,736 bytes (1.50 GiB)". */
export function formatExact(bytes: number): string {
  if (bytes < KIB) return formatBytes(bytes);
  return translated("$0 bytes ($1)", formatCount(bytes), formatBytes(bytes));
}

const tenths = (value: number): string => (Math.floor(value * 10) / 10).toFixed(1);

/** Returns "82.0 us", "1.5 ms" or "12.34 s". */
export function formatDuration(ns: number): string {
  if (ns >= 1e8) return `${(Math.floor(ns / 1e7) / 100).toFixed(2)} s`;
  return ns < 1e5 ? `${tenths(ns / 1e3)} us` : `${tenths(ns / 1e6)} ms`;
}
