// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_FRAGMENTATION_TABLE_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_FRAGMENTATION_TABLE_H_

#include <string>

#include "nlohmann/json_fwd.hpp"
#include "tools/analysis/explanation.h"
#include "tools/report/words/document.h"

namespace memtrace::report {

// Returns the section about free memory inside segments: how it is split up, how much of it can be
// used, and which blocks keep it. Empty if there is hardly any, unless a request failed.
Section FragmentationSection(const analysis::Explanation& explanation);

nlohmann::ordered_json FragmentationJson(const analysis::Explanation& explanation);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_FRAGMENTATION_TABLE_H_
