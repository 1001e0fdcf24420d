// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/check.h"
#include "nlohmann/json.hpp"
#include "tests/fuzz/checked_text.h"
#include "tests/fuzz/targets.h"
#include "tools/analysis/views/run_summary.h"
#include "tools/report/summary_report.h"

namespace memtrace::fuzz {

void RunSummaryText(std::string_view text) {
  const auto json = nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  const absl::StatusOr<analysis::RunSummary> summary = analysis::ParseRunSummary(json);
  if (!summary.ok()) {
    MEMTRACE_CHECK(!summary.status().message().empty());
    return;
  }
  CheckText(report::TextSummary(*summary, "4711", /*now_unix_ns=*/1, 10));
}

}  // namespace memtrace::fuzz
