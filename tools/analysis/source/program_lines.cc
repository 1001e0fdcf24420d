// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/program_lines.h"

#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

constexpr size_t kMostNodes = 4096;  // a bound for hostile traces; large programs have hundreds

}  // namespace

ProgramLines::Path ProgramLines::PathOf(trace::StackId stack) {
  if (stack == 0) return {};
  if (const auto known = paths_.find(stack); known != paths_.end()) return known->second;
  return paths_.emplace(stack, Read(stack)).first->second;
}

ProgramLines::Path ProgramLines::Read(trace::StackId stack) {
  const std::vector<trace::Frame> frames = source_.Stack(stack);
  if (!frames.empty() && IsThreadStart(frames.back())) return {};
  Path path;
  for (auto frame = frames.rbegin(); frame != frames.rend() && !path.calls_module; ++frame) {
    path.calls_module = IsModuleCall(*frame);
    path.may_loop_below |= MayLoopOverTensors(*frame);
    if (path.calls_module || IsNative(*frame) || IsOfTorch(*frame)) continue;
    const std::optional<LineId> child = ChildOf(path.leaf, NumberOf(*frame));
    if (!child) return {};
    path.leaf = *child;
    path.may_loop_below = false;
  }
  for (LineId id = path.leaf; path.calls_module && id != kRoot; id = nodes_[id].parent)
    nodes_[id].calls_modules = true;
  return path;
}

uint32_t ProgramLines::NumberOf(const trace::Frame& frame) {
  const std::string function = frame.file + '\n' + frame.function;
  const auto [known, is_new] = numbers_.try_emplace(function + '\n' + std::to_string(frame.line),
                                                    static_cast<uint32_t>(lines_.size()));
  if (is_new)
    lines_.push_back({ShortFrame(frame), function, frame.line, IsLibraryFile(frame.file)});
  return known->second;
}

std::optional<LineId> ProgramLines::ChildOf(LineId parent, uint32_t line) {
  const uint64_t key = (uint64_t{parent} << 32) | line;
  if (const auto known = children_.find(key); known != children_.end()) return known->second;
  if (nodes_.size() == kMostNodes) return std::nullopt;
  const auto child = static_cast<LineId>(nodes_.size());
  nodes_.push_back({.parent = parent, .depth = nodes_[parent].depth + 1, .line = line});
  children_.emplace(key, child);
  return child;
}

std::vector<LineId> ProgramLines::OfSameFunction(LineId id) const {
  std::vector<LineId> lines;
  for (LineId other = kRoot + 1; other < nodes_.size(); ++other) {
    const bool is_beside = nodes_[other].parent == nodes_[id].parent;
    if (is_beside && line(other).function == line(id).function) lines.push_back(other);
  }
  return lines;
}

}  // namespace memtrace::analysis
