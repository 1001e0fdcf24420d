// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SPILL_SECTION_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SPILL_SECTION_H_

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Says what of the card's memory moved to the host in which step (run --spill), how much is still
// there, and what it costs; empty if nothing moved. `simulation` tells what passed the bus.
Section SpillSection(const analysis::Explanation& explanation,
                     const analysis::SimulationFacts& simulation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SPILL_SECTION_H_
