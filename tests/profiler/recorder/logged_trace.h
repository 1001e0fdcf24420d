// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_PROFILER_RECORDER_LOGGED_TRACE_H_
#define MEMTRACE_TESTS_PROFILER_RECORDER_LOGGED_TRACE_H_

#include <string>

#include "profiler/recorder/event_log.h"
#include "profiler/trace/reading/trace_reader.h"
#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::recorder {

// A log with a trace in a folder of its own, to test one part of the recorder at a time.
class LoggedTrace {
 public:
  explicit LoggedTrace(const trace::TraceFileOptions& options = {})
      : log_(*trace::TraceWriter::Open(path_, {}, options)) {}

  EventLog& log() { return log_; }
  const std::string& path() const { return path_; }
  // Visits the events so far.
  template <typename Visit>
  void ForEach(Visit visit) const {
    trace::MustOpen(path_).ForEach(visit);
  }

 private:
  trace::TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  EventLog log_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_TESTS_PROFILER_RECORDER_LOGGED_TRACE_H_
