// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_EVENT_SOURCE_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_EVENT_SOURCE_H_

#include <functional>
#include <string_view>
#include <vector>

#include "profiler/trace/events/event.h"
#include "tools/analysis/source/evidence.h"

namespace memtrace::analysis {

// A source of events: a trace file, or a list made in a test. The analysis reads it twice, so that
// its memory grows with the blocks alive at one time, not with the length of the trace.
class EventSource {
 public:
  virtual ~EventSource() = default;

  // Visits the events in order of their sequence numbers; the same events each time.
  virtual void ForEach(const std::function<void(const trace::Event&)>& visit) const = 0;
  virtual std::string_view String(trace::StringId id) const = 0;
  virtual std::vector<trace::Frame> Stack(trace::StackId id) const = 0;  // innermost first
  // The best evidence that a role can have here: less than kStated if phases and labels were
  // guessed.
  virtual Evidence best_evidence() const { return Evidence::kStated; }
  // True if a launcher started several such processes, each for its own card.
  virtual bool is_one_of_ranks() const { return false; }
  // True if no card was there: one of `memtrace run --card` stood in for it.
  virtual bool is_simulated() const { return false; }
  // True if a part of the trace cannot be read, so that its events do not say how the run ended.
  virtual bool is_partial() const { return false; }
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_EVENT_SOURCE_H_
