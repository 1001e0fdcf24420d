// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Made by cmake/generate_vocabulary.py of profiler/trace/vocabulary.

export type Role =
  | "unknown"
  | "parameter"
  | "gradient"
  | "optimizer_state"
  | "activation"
  | "input"
  | "temporary"
  | "workspace"
  | "kv_cache"
  | "comm"
  | "buffer"
  | "checkpoint";

export type Phase =
  "other" | "init" | "forward" | "recompute" | "backward" | "optimizer" | "evaluate" | "generate";

export type LedgerEntry =
  | "context"
  | "live"
  | "rounding"
  | "stream_wait"
  | "cached"
  | "holes"
  | "private_pools"
  | "outside_allocator"
  | "other_processes"
  | "free"
  | "unexplained";
