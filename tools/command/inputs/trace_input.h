// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_INPUTS_TRACE_INPUT_H_
#define MEMTRACE_TOOLS_COMMAND_INPUTS_TRACE_INPUT_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/trace/reading/trace_reader.h"
#include "tools/analysis/source/event_source.h"
#include "tools/analysis/source/run_facts.h"

namespace memtrace::command {

// Opens a trace. The error says in one sentence what is wrong with `path`, what it looks like
// instead, and what to do.
absl::StatusOr<trace::TraceReader> OpenTrace(const std::string& path);

// True if the file begins like a pickle.
bool IsPickle(const std::string& path);

// A trace, or a memory snapshot of torch, as the analysis reads it.
class TraceInput : public analysis::EventSource {
 public:
  // Errors are those of OpenTrace.
  static absl::StatusOr<TraceInput> Open(const std::string& path);

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    source_->ForEach(visit);
  }
  std::string_view String(trace::StringId id) const override { return source_->String(id); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override { return source_->Stack(id); }
  analysis::Evidence best_evidence() const override { return source_->best_evidence(); }
  bool is_one_of_ranks() const override;
  bool is_simulated() const override;
  bool is_partial() const override;

  // The same as in trace::TraceReader.
  const std::map<std::string, std::string>& info() const { return info_; }
  const trace::Completeness& completeness() const { return completeness_; }
  // Returns what the file says about the run, and its path.
  analysis::RunFacts Facts(const analysis::Annotations& annotations) const;

  // kDone, or kPartial if some of the file could not be read.
  int exit_code() const;

 private:
  TraceInput(std::string path, std::unique_ptr<const analysis::EventSource> source,
             std::map<std::string, std::string> info, const trace::Completeness& completeness)
      : path_(std::move(path)),
        source_(std::move(source)),
        info_(std::move(info)),
        completeness_(completeness) {}
  static absl::StatusOr<TraceInput> OpenSnapshot(const std::string& path);

  std::string path_;
  std::unique_ptr<const analysis::EventSource> source_;
  std::map<std::string, std::string> info_;
  trace::Completeness completeness_;
};

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_INPUTS_TRACE_INPUT_H_
