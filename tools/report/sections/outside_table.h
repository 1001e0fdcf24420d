// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_OUTSIDE_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_OUTSIDE_TABLE_H_

#include <cstdint>

#include "tools/analysis/explained/holders.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Lists the memory that the process took from the driver of card `card` outside its allocator, by
// kind and site; empty if there is none.
// If the card is simulated, says of NCCL's part by which rule and within which bounds it is known.
Section OutsideSection(int32_t card, const analysis::ExplainedHolders& holders,
                       const analysis::SimulationFacts& simulation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_OUTSIDE_TABLE_H_
