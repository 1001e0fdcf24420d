// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/kept_for_backward.h"

#include <string>

#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {

std::optional<KeptForBackward> FindKeptForBackward(const std::vector<CapturedBlock>& captured,
                                                   const Position& now, int32_t device,
                                                   const LiveSet& live, const EventSource& source,
                                                   const Annotations& annotations) {
  const uint64_t all = AnnotatedNumber(annotations, fact::kForwardSinceBackward).value_or(0);
  const uint64_t in_eval =
      AnnotatedNumber(annotations, fact::kForwardEvalSinceBackward).value_or(0);
  if (all == 0 || (live.position().backward_seen && in_eval == 0)) return std::nullopt;
  const std::string trained = fact::kOptimizerTrainedBytes.Of(device);
  KeptForBackward kept{.forwards = in_eval > 0 ? in_eval : all,
                       .is_trained = AnnotatedNumber(annotations, trained).value_or(0) > 0,
                       .is_eval = in_eval > 0,
                       .may_train = AnnotatedNumber(annotations, fact::kSourceTrains) != 0};
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    if (entry.waiting || block.birth.phase != trace::Phase::kForward) continue;
    if (kept.is_eval && block.birth.step < now.step) continue;
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), source.best_evidence()))
      if (part.identity.role == trace::Role::kActivation) kept.bytes += part.bytes;
  }
  if (kept.bytes == 0) return std::nullopt;
  return kept;
}

}  // namespace memtrace::analysis
