// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SIMULATION_JSON_H_
#define MEMTRACE_TOOLS_REPORT_SIMULATION_JSON_H_

#include "nlohmann/json.hpp"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::report {

// Returns if the card was simulated, and what the simulation counted and assumed, for
// memtrace.report/1: "simulated".
nlohmann::ordered_json SimulatedJson(const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SIMULATION_JSON_H_
