// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_KEPT_FAILED_ATTEMPTS_H_
#define MEMTRACE_TOOLS_ANALYSIS_KEPT_FAILED_ATTEMPTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Blocks in use that were made by passes which an earlier out-of-memory error ended, or that are
// held by frames which its exception keeps.
struct FailedAttempts {
  uint64_t bytes = 0;
  uint64_t blocks = 0;
  uint64_t attempts = 0;  // that made them
  // The holder of an attempt's exception, as the hooks found it.
  enum class Keeper : uint8_t { kUnknown, kHandler, kName } keeper = Keeper::kUnknown;
  std::string name;   // of kName
  std::string place;  // "train.py:12" of kHandler; of kName the function and the file, may be empty
};

// Records the passes that failed, each from the beginning of its forward to its out-of-memory
// error. A pass that goes on after the error, as when torch takes another engine of cuDNN, does not
// count.
class AttemptWatch {
 public:
  // Takes the events of the first reading, with their ordinals.
  void See(const trace::Event& event, uint64_t ordinal);
  // Returns the memory left by passes that were over before the pass of `failed` began; nothing if
  // there is none. `captured`: the blocks of its card then.
  std::optional<FailedAttempts> LeftBehind(const FailedRequest& failed,
                                           const std::vector<CapturedBlock>& captured,
                                           const LiveSet& live, const EventSource& source) const;

 private:
  struct Attempt {
    uint64_t begin = 0;  // sequence numbers
    uint64_t end = 0;
    uint64_t last_failure = 0;  // ordinal
  };
  void See(const trace::PhaseChange& change, uint64_t sequence, uint64_t /*ordinal*/) {
    BeginPass(change.phase, sequence);
  }
  void See(const trace::OutOfMemory& failure, uint64_t sequence, uint64_t ordinal) {
    if (IsOfPass(failure)) NoteFailure(sequence, ordinal);
  }
  void See(const trace::Allocate& allocation, uint64_t /*sequence*/, uint64_t /*ordinal*/) {
    if (IsPassContinued(allocation)) attempts_.pop_back();
  }
  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::FreeRequested, trace::FreeCompleted, trace::Reserve, trace::Map,
                   trace::Unmap, trace::Relabel, trace::Step, trace::TagChange, trace::Annotate,
                   trace::CardSample, trace::Lost, trace::OutsideAllocate, trace::OutsideFree,
                   trace::Resume, trace::Alive, trace::Activity, trace::Moved>
          Ignored>
  void See(const Ignored&, uint64_t, uint64_t) {}

  void BeginPass(trace::Phase phase, uint64_t sequence);
  bool IsOfPass(const trace::OutOfMemory& failure) const;
  void NoteFailure(uint64_t sequence, uint64_t ordinal);
  bool IsPassContinued(const trace::Allocate& allocation) const;
  const Attempt* MakerOf(const Block& block, uint64_t failure) const;

  trace::Phase phase_ = trace::Phase::kOther;
  uint64_t pass_begin_ = 0;  // sequence number; 0 before the first
  std::vector<Attempt> attempts_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_KEPT_FAILED_ATTEMPTS_H_
