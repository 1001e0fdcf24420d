// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_SHARED_TRACE_H_
#define MEMTRACE_PROFILER_RECORDER_SHARED_TRACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "base/spin_mutex.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::recorder {

// The process's one trace, its lock, and the guard around all recording.
//
// The lock is innermost: it is taken under a card's lock, and no code is called out of it. The
// guard protects the program: no exception passes it, and in a forked child nothing behind it is
// touched. Thread rule: any thread.
class SharedTrace {
 public:
  // `to` is an open trace, or TraceWriter::Stopped(reason).
  explicit SharedTrace(std::unique_ptr<trace::TraceWriter> to) : writer(std::move(to)) {}

  mutable SpinMutex mutex;
  const std::unique_ptr<trace::TraceWriter> writer ABSL_PT_GUARDED_BY(mutex);

  // Runs `action` inside the guard. An exception (only bad_alloc is possible) ends it and counts as
  // a lost event. In a forked child `action` is not run, because the holder of the lock may not
  // exist there.
  template <typename Action>
  void Guarded(Action action) const {
    if (is_abandoned_.load(std::memory_order_relaxed)) return;
    try {
      action();
    } catch (...) {
      lost_for_memory_.fetch_add(1, std::memory_order_relaxed);
    }
  }

  // Returns the number of a string, for contexts and labels; 0 for "".
  trace::StringId Intern(std::string_view text);

  uint64_t lost_events() const;
  absl::Status status() const;  // why recording stopped; OK while it goes on
  std::string path() const;     // of the file as created; empty if there is none

  // Takes the result of a Write; after a failure, TakeFailure returns the reason.
  void NoteWritten(const absl::Status& written) {
    if (!written.ok()) has_failed_.store(true, std::memory_order_relaxed);
  }
  // Returns the same as status, but only the first time after a failure: for the single line on
  // stderr. Cheap.
  absl::Status TakeFailure();

  // Must be called on the child's side of pthread_atfork: from then on nothing that records has any
  // effect, whatever other threads of the parent were doing. The child may make a recorder of its
  // own. Takes no lock, because its holder may not exist there.
  void AbandonInForkedChild() ABSL_NO_THREAD_SAFETY_ANALYSIS;

 private:
  std::atomic<bool> is_abandoned_ = false;
  std::atomic<bool> has_failed_ = false;  // and the reason has not been taken yet
  mutable std::atomic<uint64_t> lost_for_memory_ = 0;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_SHARED_TRACE_H_
