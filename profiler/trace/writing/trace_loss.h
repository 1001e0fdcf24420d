// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_WRITING_TRACE_LOSS_H_
#define MEMTRACE_PROFILER_TRACE_WRITING_TRACE_LOSS_H_

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"

namespace memtrace::trace {

// Why recording stopped, and how many events a trace lacks. Recording stops once, for good; only
// the first event that is lost afterwards reports the reason, so that it is not printed a million
// times. Events after the end of a trace are also counted.
//
// Errors: none. Thread rule: one thread at a time.
class TraceLoss {
 public:
  // Stops recording. `events` is the number of earlier events that are lost with it. REQUIRES:
  // !why.ok().
  void Stop(absl::Status why, uint64_t events) {
    status_ = std::move(why);
    events_ += events;
  }
  // Counts events that are not written. Returns why recording stopped, the first time; OK later,
  // and also if it has not stopped.
  absl::Status Count(uint64_t events) {
    events_ += events;
    if (status_.ok() || std::exchange(told_, true)) return absl::OkStatus();
    return status_;
  }

  bool has_stopped() const { return !status_.ok(); }
  const absl::Status& status() const { return status_; }  // OK until recording stops
  std::string_view reason() const { return {status_.message().data(), status_.message().size()}; }
  uint64_t lost_events() const { return events_; }

 private:
  absl::Status status_;
  bool told_ = false;  // status_ was returned once
  uint64_t events_ = 0;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_WRITING_TRACE_LOSS_H_
