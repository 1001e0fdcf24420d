// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/native_names.h"

#include <algorithm>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "profiler/trace/events/build_id.h"
#include "profiler/trace/events/visit.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

constexpr std::string_view kBuildId = trace::fact::kBuildId.prefix();

bool IsNameless(const trace::Frame& frame) { return frame.function.empty() && IsNative(frame); }

// The stacks and build-ids that the events of a trace mention.
struct Mentioned {
  const EventSource& source;
  absl::flat_hash_set<trace::StackId> stacks = {};
  std::map<std::string, std::string> build_ids = {};  // by file

  template <trace::OneOf<trace::Allocate, trace::OutsideAllocate, trace::Moved, trace::OutOfMemory>
                WithStack>
  void operator()(const WithStack& event) {
    stacks.insert(event.stack);
  }
  void operator()(const trace::Annotate& said) {
    const std::string_view key = source.String(said.key);
    if (key.starts_with(kBuildId))
      build_ids[std::string(key.substr(kBuildId.size()))] = source.String(said.value);
  }
  // Ignores events that change nothing here.
  template <trace::OneOf<trace::FreeRequested, trace::FreeCompleted, trace::Reserve, trace::Map,
                         trace::Unmap, trace::Relabel, trace::Step, trace::PhaseChange,
                         trace::TagChange, trace::CardSample, trace::Lost, trace::OutsideFree,
                         trace::Resume, trace::Alive, trace::Activity>
                Ignored>
  void operator()(const Ignored&) {}
};

std::map<std::string, std::set<std::string>> NamelessOffsets(const Mentioned& mentioned,
                                                             const EventSource& source) {
  std::map<std::string, std::set<std::string>> offsets;
  for (const trace::StackId stack : mentioned.stacks) {
    for (const trace::Frame& frame : source.Stack(stack)) {
      if (!IsNameless(frame)) continue;
      const size_t plus = frame.file.rfind("+0x");
      offsets[frame.file.substr(0, plus)].insert(frame.file.substr(plus + 1));
    }
  }
  return offsets;
}

}  // namespace

NativeNames::NativeNames(const EventSource& source, Symbolizer symbolizer)
    : source_(source), symbolizer_(std::move(symbolizer)) {}

std::vector<trace::Frame> NativeNames::Stack(trace::StackId id) const {
  std::vector<trace::Frame> frames = source_.Stack(id);
  if (std::none_of(frames.begin(), frames.end(), IsNameless)) return frames;
  if (!has_named_) NameAll();
  for (trace::Frame& frame : frames) {
    if (!IsNameless(frame)) continue;
    if (const auto name = names_.find(frame.file); name != names_.end())
      frame.function = name->second;
  }
  return frames;
}

void NativeNames::NameAll() const {
  has_named_ = true;
  Mentioned mentioned{source_};
  source_.ForEach([&](const trace::Event& event) { trace::Visit(mentioned, event.payload); });
  for (const auto& [file, offsets] : NamelessOffsets(mentioned, source_)) {
    const auto recorded = mentioned.build_ids.find(file);
    if (recorded == mentioned.build_ids.end() || recorded->second.empty()) continue;
    const std::string here = trace::BuildIdOfFile(file);
    if (here == recorded->second) NameIn(file, {offsets.begin(), offsets.end()});
    if (here != recorded->second && !here.empty()) differing_files_.push_back(file);
  }
}

void NativeNames::NameIn(const std::string& file, const std::vector<std::string>& offsets) const {
  const std::vector<std::string> functions = symbolizer_(file, offsets);
  for (size_t i = 0; i < std::min(functions.size(), offsets.size()); ++i) {
    if (!functions[i].empty()) names_[file + "+" + offsets[i]] = functions[i];
  }
}

}  // namespace memtrace::analysis
