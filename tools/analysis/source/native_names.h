// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_SOURCE_NATIVE_NAMES_H_
#define MEMTRACE_TOOLS_ANALYSIS_SOURCE_NATIVE_NAMES_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/analysis/source/addr2line.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// A source that names native frames without an exported name ("/opt/libfoo.so+0x1a2b") by the
// symbols of that file, if it is here and its build-id says that it is the recorded one. The first
// request for such a stack costs a pass over the events and a look into each file; a trace without
// such stacks costs nothing.
class NativeNames : public EventSource {
 public:
  // Names the functions at those offsets of a file, as AskAddr2line does.
  using Symbolizer = std::function<std::vector<std::string>(
      const std::string& file, const std::vector<std::string>& offsets)>;

  // `source` outlives this.
  explicit NativeNames(const EventSource& source, Symbolizer symbolizer = AskAddr2line);

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    source_.ForEach(visit);
  }
  std::string_view String(trace::StringId id) const override { return source_.String(id); }
  Evidence best_evidence() const override { return source_.best_evidence(); }
  bool is_one_of_ranks() const override { return source_.is_one_of_ranks(); }
  bool is_simulated() const override { return source_.is_simulated(); }
  bool is_partial() const override { return source_.is_partial(); }
  std::vector<trace::Frame> Stack(trace::StackId id) const override;

  // Files that are here but are not the recorded ones: their frames keep their offsets.
  const std::vector<std::string>& differing_files() const { return differing_files_; }

 private:
  void NameAll() const;
  void NameIn(const std::string& file, const std::vector<std::string>& offsets) const;

  const EventSource& source_;
  const Symbolizer symbolizer_;
  mutable bool has_named_ = false;
  mutable std::map<std::string, std::string> names_;  // by a frame's file, offset and all
  mutable std::vector<std::string> differing_files_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_SOURCE_NATIVE_NAMES_H_
