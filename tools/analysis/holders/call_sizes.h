// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_CALL_SIZES_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_CALL_SIZES_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// The size of a call of the outermost module: `forward.batch` and `forward.sequence`.
struct CallSize {
  uint64_t examples = 0;  // 0: not known
  uint64_t length = 0;    // of each, padded; 0 if the examples are no sequences
  uint64_t elements() const { return examples * std::max<uint64_t>(length, 1); }
};

// Returns the bytes of a number of `element_bytes` for each word of the vocabulary and each token
// of the running call, as the hooks state them at a failure; 0 if they do not.
uint64_t LogitsOfCall(const Annotations& annotations, uint64_t element_bytes);

// A call at a moment that is larger than any before it.
struct LargestCall {
  CallSize now;
  CallSize before;  // the largest of the others
};

// Follows the sizes of calls, which the hooks state when they change.
class CallSizes {
 public:
  explicit CallSizes(const EventSource& source) : source_(source) {}

  // Takes the events of the first reading, with their ordinals.
  void See(const trace::Event& event, uint64_t ordinal);
  // Returns the call that ran at the failure with this ordinal, if it is larger by 10 percent or
  // more than each earlier call and there is an earlier one.
  std::optional<LargestCall> LargestAt(uint64_t failure) const;

 private:
  void See(const trace::Annotate& annotation, uint64_t ordinal);
  void See(const trace::Allocate& /*allocation*/, uint64_t /*ordinal*/) { Conclude(); }
  void See(const trace::OutOfMemory& failed, uint64_t ordinal);
  // Ignores events that change nothing here.
  template <
      trace::OneOf<trace::FreeRequested, trace::FreeCompleted, trace::Reserve, trace::Map,
                   trace::Unmap, trace::Relabel, trace::Step, trace::PhaseChange, trace::TagChange,
                   trace::CardSample, trace::Lost, trace::OutsideAllocate, trace::OutsideFree,
                   trace::Resume, trace::Alive, trace::Activity, trace::Moved>
          Ignored>
  void See(const Ignored&, uint64_t) {}

  void Conclude();

  const EventSource& source_;
  CallSize stated_;
  bool has_changed_ = false;  // one of its numbers, and the other may be about to change
  CallSize now_;
  CallSize before_;
  std::map<uint64_t, LargestCall> at_failures_;  // by ordinal
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_CALL_SIZES_H_
