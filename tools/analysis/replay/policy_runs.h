// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_POLICY_RUNS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_POLICY_RUNS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "tools/analysis/replay/course.h"
#include "tools/analysis/replay/policy.h"
#include "tools/analysis/replay/recorded_run.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::replay {

// The sizes of the cards to replay on; nothing for a card without a limit.
using Cards = std::map<int32_t, std::optional<Bytes>>;

// Runs a policy on each of some cards, in one reading of the events.
class PolicyRuns {
 public:
  // All outlive it.
  PolicyRuns(PolicyKind kind, const RecordedRun& run, const Cards& cards,
             const PlacementSink& sink);

  void See(const trace::Event& event);
  void End();
  // Ignores all further events of a card once a request failed there.
  void StopAtFailure() { stops_at_failure_ = true; }

  const Policy& policy(int32_t device) const { return *runs_.at(device).policy; }
  const Course& course(int32_t device) const { return *runs_.at(device).course; }

 private:
  struct Run {
    std::unique_ptr<Policy> policy;
    std::unique_ptr<Course> course;
  };

  std::map<int32_t, Run> runs_;
  bool stops_at_failure_ = false;
};

// Finds the smallest cards, in steps of 2 MiB, on which everything is served, by bisection: each
// serves all, and one a step smaller does not.
std::map<int32_t, Bytes> SmallestCards(PolicyKind kind, const RecordedRun& run,
                                       const analysis::EventSource& source,
                                       std::map<int32_t, Bytes> expected);

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_POLICY_RUNS_H_
