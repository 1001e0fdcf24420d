// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_REPLAY_REPORT_H_
#define MEMTRACE_TOOLS_REPORT_REPLAY_REPORT_H_

#include <string>

#include "tools/analysis/replay/replay.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// A line a card: does it fit, peaks, the smallest card, where blocks went. At most 100 columns.
std::string TextReplay(const replay::ReplayResult& result, const analysis::RunFacts& run);
// Schema "memtrace.replay/1": policy, recorded, devices[].{device,card,fits,...} and, at the top,
// the same of the fullest card. Bytes; null: not known, or not to be compared.
std::string JsonReplay(const replay::ReplayResult& result, const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_REPLAY_REPORT_H_
