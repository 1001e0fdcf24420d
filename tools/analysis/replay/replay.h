// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_REPLAY_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_REPLAY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "tools/analysis/replay/course.h"
#include "tools/analysis/replay/placement_sink.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/recorded_run.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::replay {

std::string_view PolicyName(PolicyKind kind);                      // "torch-native"
std::optional<PolicyKind> PolicyOf(std::string_view policy_name);  // nothing: no such policy

struct ReplayOptions {
  PolicyKind policy = PolicyKind::kTorchNative;
  std::optional<Bytes> card;  // all of each card; nothing: the recorded one
  PlacementSink placements;
};

// The results of replaying one card's events. Sizes are bytes.
struct ReplayOutcome {
  int32_t device = 0;
  std::optional<Bytes> card;  // nothing: one without end
  bool fits = true;
  uint64_t failures = 0;                         // requests that were not served
  std::optional<Course::Failure> first_failure;  // not known of a recorded one
  Bytes peak_allocated = 0;
  Bytes peak_reserved = 0;
  Bytes smallest_card = 0;
  uint64_t allocations = 0;
  bool ends_in_failure = false;  // as recorded; no figure has what would have come after it
  // Set if the policy is the recorded one: placements that could be judged, and those that were as
  // recorded.
  std::optional<uint64_t> compared;
  std::optional<uint64_t> placed_as_recorded;
  uint32_t guessed_pools = 0;  // that were needed for that
  DriverCalls calls;
};

struct ReplayResult {
  PolicyKind policy = PolicyKind::kTorchNative;
  PolicyKind recorded = PolicyKind::kTorchNative;
  std::vector<ReplayOutcome> devices;  // ascending; those that have allocations

  const ReplayOutcome& fullest() const;  // REQUIRES: devices is not empty
};

// Replays a run; docs/design/replay.md says what each figure means. Reads the events several times;
// memory grows with the blocks that live at one time.
ReplayResult Replay(const analysis::EventSource& source, const RecordedRun& run,
                    const ReplayOptions& options);

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_REPLAY_H_
