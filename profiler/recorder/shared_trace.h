// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_SHARED_TRACE_H_
#define MEMTRACE_PROFILER_RECORDER_SHARED_TRACE_H_

#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/spin_mutex.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::recorder {

// The process's one trace and its lock. The lock is innermost: it is taken under a card's lock, and
// nothing is called out of it.
struct SharedTrace {
  explicit SharedTrace(std::unique_ptr<trace::TraceWriter> to) : writer(std::move(to)) {}

  SpinMutex mutex;
  const std::unique_ptr<trace::TraceWriter> writer ABSL_PT_GUARDED_BY(mutex);
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_SHARED_TRACE_H_
