// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_TRACE_INPUT_H_
#define MEMTRACE_TOOLS_COMMAND_TRACE_INPUT_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/trace/trace_reader.h"
#include "tools/analysis/event_source.h"
#include "tools/analysis/run_facts.h"

namespace memtrace::command {

// A trace file as the analysis reads it.
class TraceInput : public analysis::EventSource {
 public:
  // The error says in one sentence what is wrong with `path`, what it looks like instead, and what
  // to do.
  static absl::StatusOr<TraceInput> Open(const std::string& path);

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    reader_.ForEach(visit);
  }
  std::string_view String(trace::StringId id) const override { return reader_.String(id); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override { return reader_.Stack(id); }

  const trace::TraceReader& reader() const { return reader_; }
  // What the file says about the run, and where it lies.
  analysis::RunFacts Facts(const analysis::Annotations& annotations) const;

  // kDone, or kPartial if some of the file could not be read.
  int exit_code() const;

 private:
  TraceInput(std::string path, trace::TraceReader reader)
      : path_(std::move(path)), reader_(std::move(reader)) {}

  std::string path_;
  trace::TraceReader reader_;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_TRACE_INPUT_H_
