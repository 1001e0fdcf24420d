// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/holder_lines.h"

#include <algorithm>

#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

// Autograd's threads have no frames, so the phase is named for them.
std::string LineOf(const Holding& holding, const std::vector<trace::Frame>& stack) {
  const trace::Frame* user = InnermostUserFrame(stack);
  if (user != nullptr && ShortFrame(*user) != holding.site) return ShortFrame(*user);
  if (!stack.empty() && &MostInformativeFrame(stack) != user)
    return ShortFrame(MostInformativeFrame(stack));
  const std::string phase = "in " + std::string(PhaseName(holding.since.phase));
  if (!stack.empty() || holding.since.phase == trace::Phase::kOther) return "";
  return holding.site == "(" + phase + ")" ? "" : phase;
}

std::string LibraryOf(const std::vector<trace::Frame>& stack) {
  if (InnermostUserFrame(stack) == nullptr) return "";
  const auto innermost = std::find_if(stack.begin(), stack.end(), [](const trace::Frame& frame) {
    return !IsNative(frame) && !IsOfTorch(frame);
  });
  const bool is_library = innermost != stack.end() && IsLibraryFile(innermost->file);
  return is_library ? ShortFrame(*innermost) : "";
}

}  // namespace

std::vector<HolderLine> HolderLines(const Breakdown& held, const EventSource& source) {
  std::vector<HolderLine> lines;
  lines.reserve(held.holdings.size());
  for (const Holding& holding : held.holdings) {
    const std::vector<trace::Frame> stack = source.Stack(holding.stack);
    lines.push_back({LineOf(holding, stack), LibraryOf(stack)});
  }
  return lines;
}

}  // namespace memtrace::analysis
