// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept_for_backward.h"

#include "tools/analysis/block_parts.h"

namespace memtrace::analysis {

std::optional<KeptForBackward> FindKeptForBackward(const std::vector<CapturedBlock>& captured,
                                                   const LiveSet& live, const EventSource& source,
                                                   const Annotations& annotations) {
  const auto forwards = AnnotatedNumber(annotations, "forward.since_backward");
  if (live.position().backward_seen || forwards.value_or(0) == 0) return std::nullopt;
  KeptForBackward kept{.bytes = 0, .forwards = *forwards};
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    if (entry.waiting || block.birth.phase != trace::Phase::kForward) continue;
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), source.best_evidence()))
      if (part.identity.role == trace::Role::kActivation) kept.bytes += part.bytes;
  }
  if (kept.bytes == 0) return std::nullopt;
  return kept;
}

}  // namespace memtrace::analysis
