// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SPILL_SECTION_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SPILL_SECTION_H_

#include <cstdint>

#include "tools/analysis/explained/holders.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Says what memory of card `card` moved to the host in which step (run --spill), how much is still
// there, and what it costs; empty if nothing moved. `simulation` tells what passed the bus.
Section SpillSection(int32_t card, const analysis::ExplainedHolders& holders,
                     const analysis::SimulationFacts& simulation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_MOVED_SPILL_SECTION_H_
