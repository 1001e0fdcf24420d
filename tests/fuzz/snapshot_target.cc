// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "nlohmann/json.hpp"
#include "tests/fuzz/checked_text.h"
#include "tests/fuzz/targets.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/source/run_facts.h"
#include "tools/interchange/torch_snapshot.h"
#include "tools/report/json_report.h"
#include "tools/report/text_report.h"

namespace memtrace::fuzz {

void Snapshot(std::string_view pickle) {
  const auto snapshot = interchange::TorchSnapshot::Read(pickle);
  if (!snapshot.ok()) {
    MEMTRACE_CHECK(!snapshot.status().message().empty());
    return;
  }
  uint64_t before = 0;
  snapshot->ForEach([&before](const trace::Event& event) {
    MEMTRACE_CHECK(event.sequence == before + 1);
    before = event.sequence;
  });
  const analysis::Explanation explanation = *analysis::Explain(*snapshot);
  const analysis::RunFacts run = analysis::ReadRunFacts(
      "fuzz", snapshot->info(), explanation.run.annotations, {.closed = true});
  CheckText(report::TextReport(explanation, run, true));
  MEMTRACE_CHECK(nlohmann::json::accept(report::JsonReport(explanation, run)));
}

}  // namespace memtrace::fuzz
