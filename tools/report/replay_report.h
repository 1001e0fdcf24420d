// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_REPLAY_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_REPLAY_REPORT_H_

#include <string>

#include "tools/analysis/replay/replay.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// Returns a line a card: if it fits, its peaks, the smallest card, where blocks went. At most 100
// columns.
std::string TextReplay(const replay::ReplayResult& result, const analysis::RunFacts& run);
// Returns JSON, schema "memtrace.replay/1": policy, recorded, devices[].{device,card,fits,...} and,
// at the top, the same for the fullest card. Bytes; null if not known or not comparable.
std::string JsonReplay(const replay::ReplayResult& result, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_REPLAY_REPORT_H_
