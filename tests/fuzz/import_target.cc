// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/check.h"
#include "tests/fuzz/targets.h"
#include "tools/interchange/importers/kineto_profile.h"
#include "tools/interchange/importers/rmm_log.h"

namespace memtrace::fuzz {
namespace {

// Checks that every event has a sequence number and that its names exist.
void CheckRun(const absl::StatusOr<std::unique_ptr<interchange::ImportedRun>>& run) {
  if (!run.ok()) {
    MEMTRACE_CHECK(!run.status().message().empty());
    return;
  }
  uint64_t sequence = 0;
  (*run)->ForEach([&](const trace::Event& event) {
    MEMTRACE_CHECK(event.sequence == ++sequence);
    if (const auto* allocation = std::get_if<trace::Allocate>(&event.payload)) {
      for (const trace::Frame& frame : (*run)->Stack(allocation->stack))
        MEMTRACE_CHECK(!frame.function.empty() || !frame.file.empty() || frame.line == 0);
    }
  });
  MEMTRACE_CHECK(sequence > 0);
}

}  // namespace

void KinetoProfile(std::string_view text) { CheckRun(interchange::OpenKinetoProfile(text)); }

void RmmLog(std::string_view text) {
  if (interchange::IsRmmLog(text)) CheckRun(interchange::OpenRmmLog(text));
  CheckRun(interchange::OpenRmmLog("Thread,Time,Action,Pointer,Size,Stream\n" + std::string(text)));
}

}  // namespace memtrace::fuzz
