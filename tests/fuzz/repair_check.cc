// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/repair_check.h"

#include <tuple>
#include <variant>
#include <vector>

#include "base/check.h"
#include "nlohmann/json.hpp"
#include "profiler/trace/reading/trace_repair.h"
#include "tests/fuzz/checked_text.h"
#include "tests/fuzz/memory_file.h"
#include "tools/analysis/checks/verification.h"
#include "tools/report/verify_report.h"

namespace memtrace::fuzz {
namespace {

// Returns kind, sequence and time of all events except for Lost.
std::vector<std::tuple<size_t, uint64_t, uint64_t>> EventsOf(const trace::TraceReader& reader) {
  std::vector<std::tuple<size_t, uint64_t, uint64_t>> events;
  reader.ForEach([&events](const trace::Event& event) {
    if (!std::holds_alternative<trace::Lost>(event.payload))
      events.emplace_back(event.payload.index(), event.sequence, event.time_ns);
  });
  return events;
}

analysis::Verification Verified(const trace::TraceReader& reader) {
  analysis::Verification verification;
  verification.file = "run.trace";
  verification.kind = "trace";
  verification.completeness = reader.completeness();
  VerifyEvents(reader, verification);
  return verification;
}

}  // namespace

void VerifyAndRepair(const trace::TraceReader& reader) {
  const analysis::Verification verification = Verified(reader);
  CheckText(report::VerifyLine(verification));
  MEMTRACE_CHECK(nlohmann::json::accept(report::JsonVerify({verification})));
  const MemoryFile file("");
  const auto repair = trace::RepairTrace(reader, "fuzzed", file.path());
  MEMTRACE_CHECK(repair.ok());
  if (repair->kept_events == 0) return;
  const auto again = trace::TraceReader::Open(file.path());
  MEMTRACE_CHECK(again.ok());
  MEMTRACE_CHECK(again->completeness().whole());
  MEMTRACE_CHECK(EventsOf(*again) == EventsOf(reader));
}

}  // namespace memtrace::fuzz
