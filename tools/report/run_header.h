// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_RUN_HEADER_H_
#define MEMTRACE_TOOLS_REPORT_RUN_HEADER_H_

#include <string>

#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// What of a file could not be read, and where that begins. REQUIRES: it is not whole.
std::string DamageText(const trace::Completeness& completeness);

// One line if some of the file could not be read, else empty: "PARTIAL: ...".
std::string PartialBanner(const trace::Completeness& completeness);

// One line if the file holds only the last part of the run (--keep), else empty.
std::string KeptBanner(const trace::Completeness& completeness);

// What ran, where, and how far its trace can be trusted; what is missing of it first.
Document RunSections(const analysis::Explanation& explanation, const analysis::RunFacts& run);

// What a simulated card did not do; nothing of a real one.
Section SimulationSection(const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_RUN_HEADER_H_
