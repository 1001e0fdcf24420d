// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_GROWTH_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_GROWTH_TABLE_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explanation.h"
#include "tools/report/words/document.h"

// The rise and fall of memory: what grows from step to step, and what existed only for a moment.
namespace memtrace::report {

// Returns "Memory in use grows by ... per step.", or that it rose if the loop or the program is
// over; empty if it does not grow.
std::string GrowthSentence(const analysis::Explanation& explanation);
// Says what keeps it; empty if that is not known.
std::string KeeperSentence(const analysis::Explanation& explanation);
// Returns "... of the memory held then was temporary, for ..."; empty if that is a small part of
// it.
std::string ScratchSentence(const analysis::Explanation& explanation);

// Return sections of the report; empty if there is nothing.
Section GrowthSection(const analysis::Explanation& explanation);
Section ScratchSection(const analysis::Explanation& explanation);

// Returns null if the keeper is not known.
nlohmann::ordered_json KeeperJson(const std::optional<analysis::Keeper>& keeper);
nlohmann::ordered_json GrowthJson(const analysis::Explanation& explanation);
nlohmann::ordered_json ScratchJson(const std::vector<analysis::Scratch>& scratches);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_GROWTH_TABLE_H_
