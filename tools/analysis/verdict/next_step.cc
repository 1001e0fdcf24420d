// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/next_step.h"

#include <algorithm>

#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {

std::vector<CapturedBlock> MadeByUpdate(const Update& update,
                                        const std::vector<CapturedBlock>& after,
                                        const LiveSet& live) {
  std::vector<CapturedBlock> made;
  for (const CapturedBlock& entry : after) {
    const Position& birth = live.block(entry.id).birth;
    if (birth.phase == trace::Phase::kOptimizer && birth.phase_run >= update.first_phase_run) {
      made.push_back(entry);
    }
  }
  return made;
}

std::optional<NextStep> PredictNextStep(const Update& update, int32_t device, const Breakdown& made,
                                        uint64_t to_come, const Ledger& ledger) {
  const auto peak = update.peak_before.find(device);
  const uint64_t states = BytesOfRole(made, trace::Role::kOptimizerState) + to_come;
  if (update.backward_followed || peak == update.peak_before.end() || states == 0) {
    return std::nullopt;
  }
  NextStep next;
  next.number = update.step + 1;
  next.new_states = states;
  next.need = peak->second + states;
  for (const LedgerPart part :
       {LedgerPart::kContext, LedgerPart::kOutsideAllocator, LedgerPart::kOtherProcesses}) {
    next.need += ledger.positive(part);
  }
  return next;
}

uint64_t GradientsLeft(const std::vector<CapturedBlock>& captured, const Position& now,
                       const LiveSet& live, const EventSource& source) {
  if (now.phase != trace::Phase::kForward) return 0;
  uint64_t bytes = 0;
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    if (entry.waiting || block.birth.step >= now.step) continue;
    for (const Part& part :
         PartsOf(block, live.Labels(entry.id), live.position(), source.best_evidence()))
      if (part.identity.role == trace::Role::kGradient) bytes += part.bytes;
  }
  return bytes;
}

}  // namespace memtrace::analysis
