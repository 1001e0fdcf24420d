// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_ANALYSIS_NAMED_PROGRAM_H_
#define MEMTRACE_TESTS_TOOLS_ANALYSIS_NAMED_PROGRAM_H_

#include <string>
#include <utility>
#include <vector>

#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// Events a microsecond apart, with names. Stack N is line N of train.py, called from line 1.
class NamedProgram : public EventSource {
 public:
  NamedProgram& Allocate(trace::Allocate allocation) {
    if (allocation.allocated == 0) allocation.allocated = allocation.requested;
    return Add(allocation);
  }
  NamedProgram& Allocate(uint64_t address, uint64_t bytes) {
    return Allocate(trace::Allocate{.address = address, .requested = bytes});
  }
  NamedProgram& Free(uint64_t address) {
    return Add(trace::FreeRequested{0, address}).Add(trace::FreeCompleted{0, address});
  }
  NamedProgram& Fail(uint64_t bytes) {
    return Add(trace::OutOfMemory{.requested = bytes, .allocated = bytes, .cards = {}});
  }
  template <typename Payload>
  NamedProgram& Add(const Payload& payload) {
    const uint64_t number = events_.size() + 1;
    events_.push_back({number, number * 1000, payload});
    return *this;
  }
  trace::StringId Name(std::string text) {
    strings_.push_back(std::move(text));
    return static_cast<trace::StringId>(strings_.size() - 1);
  }
  uint64_t size() const { return events_.size(); }

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    for (const trace::Event& event : events_) visit(event);
  }
  std::string_view String(trace::StringId id) const override { return strings_[id]; }
  std::vector<trace::Frame> Stack(trace::StackId id) const override {
    if (id == 0) return {};
    return {{.file = "/home/ada/train.py", .function = "step", .line = id},
            {.file = "/home/ada/train.py", .function = "<module>", .line = 1}};
  }

 private:
  std::vector<trace::Event> events_;
  std::vector<std::string> strings_ = {""};
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TESTS_TOOLS_ANALYSIS_NAMED_PROGRAM_H_
