// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/verdict/position_words.h"

#include "messages/message.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {

std::string PhaseWords(trace::Phase phase) {
  switch (phase) {
    case trace::Phase::kOther:
      return "";
    case trace::Phase::kOptimizer:
      return "optimizer.step()";
    default:
      return std::string(PhaseName(phase));
  }
}

std::string DescribePosition(const analysis::Position& position) {
  const std::string phase = PhaseWords(position.phase);
  const std::string step = std::to_string(position.step);
  const std::string micro_batch = std::to_string(position.micro_batch);
  if (position.step == 0)
    return phase.empty() ? Message("before the first step")
                         : Message("before the first step, in $0", phase);
  if (position.micro_batch > 1)
    return phase.empty() ? Message("in step $0, micro-batch $1", step, micro_batch)
                         : Message("in step $0, micro-batch $1, $2", step, micro_batch, phase);
  return phase.empty() ? Message("in step $0", step) : Message("in step $0, $1", step, phase);
}

std::string MomentName(const std::optional<analysis::MomentSpec>& asked,
                       const analysis::ExplainedFailure& failure) {
  if (asked) return MomentText(*asked);
  return failure.request ? "oom" : "peak";
}

}  // namespace memtrace::report
