// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MOMENT_SPEC_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MOMENT_SPEC_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/analysis/replayed/timeline.h"

namespace memtrace::analysis {

// The moment of a trace that is requested.
struct MomentSpec {
  enum class Kind : uint8_t {
    kFailureOrPeak,  // the last out-of-memory; without one, each card's peak
    kFailure,        // out-of-memory number `number`, from 1; 0: the last
    kPeak,           // each card's
    kPeakOfStep,     // ... within step `number`
    kStep,           // as step `number` begins
    kEvent,          // after event number `number` of the trace, from 1
    kTime,           // `number` nanoseconds after the trace began
    kEnd,
  };
  Kind kind = Kind::kFailureOrPeak;
  uint64_t number = 0;
  // The card to look at; without one, that of the failed request, else the fullest.
  std::optional<int32_t> card = std::nullopt;

  bool operator==(const MomentSpec&) const = default;
};

// Parses "oom", "oom:2", "peak", "peak:5", "step:5", "event:1234", "time:1.5s" or "end". Returns
// kInvalidArgument, with a sentence that lists them, for anything else.
absl::StatusOr<MomentSpec> ParseMomentSpec(std::string_view text);

// Returns the text that ParseMomentSpec() takes.
std::string MomentText(const MomentSpec& spec);

// Finds the event that a MomentSpec means, during the first reading of a trace.
class MomentFinder {
 public:
  explicit MomentFinder(const MomentSpec& spec) : spec_(spec) {}

  // Must be called after the timeline has seen the event.
  void Apply(const trace::Event& event, const Timeline& timeline);

  // Returns the ordinal of the event after which the moment is, by card; 0 is before the first.
  // Empty if the trace has no such moment, or no card.
  std::map<int32_t, uint64_t> Found(const Timeline& timeline) const;
  // Returns a sentence that says why a trace has no such moment.
  std::string DescribeMissingMoment(const Timeline& timeline) const;

 private:
  struct Level {
    uint64_t bytes = 0;
    uint64_t ordinal = 0;
  };

  MomentSpec spec_;
  uint64_t last_step_ = 0;
  std::optional<uint64_t> ordinal_;
  std::map<int32_t, Level> highest_;  // within the step
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_MOMENT_SPEC_H_
