// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_ACTIVITY_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_ACTIVITY_TABLE_H_

#include <string>

#include "nlohmann/json.hpp"
#include "tools/analysis/explained/holders.h"
#include "tools/analysis/replayed/activity_watch.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/report/words/document.h"

// Sections about CUPTI's record of the cards (docs/design/cupti.md). All are empty for a trace
// without it.
namespace memtrace::report {

// Returns a clause for the header: "CUPTI recorded 3,120 kernels · it did not record for 4.10 s
// (torch.profiler uses CUPTI)".
std::string ActivityText(const analysis::ActivityWatch& activities);

// Returns the section of `stats`: counts, and how long kernels ran on each card.
std::string ActivitySection(const analysis::ActivityWatch& activities);

nlohmann::ordered_json ActivitiesJson(const analysis::ActivityWatch& activities);

// Reports memory not written since an earlier step: as a sentence for the verdict, a table, and
// JSON.
std::string IdleSentence(const analysis::ExplainedHolders& holders);
Section IdleSection(const analysis::ExplainedHolders& holders);
nlohmann::ordered_json IdleJson(const analysis::IdleBlocks& idle);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_ACTIVITY_TABLE_H_
