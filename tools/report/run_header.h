// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_RUN_HEADER_H_
#define MEMTRACE_TOOLS_REPORT_RUN_HEADER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/explained/run.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns "5 events can be read."
std::string ReadableEventsText(uint64_t events);

// Returns a sentence if the file was not closed, else "".
std::string NotClosedText(const trace::Completeness& completeness);

// Says which part of a file could not be read, and where it begins. Requires that it is not whole.
std::string DamageText(const trace::Completeness& completeness);

// Returns "PARTIAL: ..." if a part of the file could not be read, else "".
std::string PartialBanner(const trace::Completeness& completeness);

// Returns sentences if the file holds only the last part of the run (--keep), else "".
std::string KeptBanner(const trace::Completeness& completeness);

// Says what ran and where, then why its figures may be doubted; missing parts come first.
Document RunSections(const analysis::ExplainedRun& recorded, const analysis::RunFacts& run);

// Says what a simulated card did not do; empty for a real one.
Section SimulationSection(const analysis::RunFacts& run);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_RUN_HEADER_H_
