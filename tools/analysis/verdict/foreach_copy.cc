// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/foreach_copy.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/frame_rules.h"
#include "tools/analysis/source/frames.h"

namespace memtrace::analysis {
namespace {

bool SamePlace(const std::vector<trace::Frame>& a, const std::vector<trace::Frame>& b) {
  return !a.empty() && !b.empty() && MostInformativeFrame(a).file == MostInformativeFrame(b).file &&
         MostInformativeFrame(a).line == MostInformativeFrame(b).line;
}

// Returns the live bytes that this step allocated where the failed request was made.
uint64_t MadeSoFar(const FailedRequest& failed, const std::vector<CapturedBlock>& captured,
                   const LiveSet& live, const EventSource& source) {
  const std::vector<trace::Frame> place = source.Stack(failed.event.stack);
  absl::flat_hash_map<trace::StackId, bool> same;
  uint64_t made = 0;
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    if (entry.waiting || block.birth.step != failed.at.step) continue;
    const auto [found, is_new] = same.try_emplace(block.allocation.stack, false);
    if (is_new) found->second = SamePlace(source.Stack(block.allocation.stack), place);
    if (found->second) made += block.allocation.requested;
  }
  return made;
}

// Returns the announced states of all optimizers, of which there may be several. Without them, Adam
// and AdamW keep two states the size of the copy; others must announce theirs.
std::optional<uint64_t> AnnouncedStates(const FailedRequest& failed, const ForeachCopy& copy) {
  const Annotations& annotations = failed.annotations;
  const std::string of_card = fact::kOptimizerStatesToMake.Of(failed.event.device);
  if (const auto bytes = AnnotatedNumber(annotations, of_card)) return bytes;
  if (const auto bytes = AnnotatedNumber(annotations, fact::kOptimizerStateBytes)) return bytes;
  if (copy.optimizer == "Adam" || copy.optimizer == "AdamW") return 2 * copy.copy_bytes;
  return std::nullopt;
}

}  // namespace

std::optional<ForeachCopy> FindForeachCopy(const FailedRequest& failed,
                                           const std::vector<CapturedBlock>& captured,
                                           const Breakdown& at_failure, const LiveSet& live,
                                           const EventSource& source) {
  if (!IsForeachUpdate(source.Stack(failed.event.stack))) return std::nullopt;
  const auto copy_bytes = AnnotatedNumber(failed.annotations, fact::kOptimizerCopyBytes);
  if (copy_bytes.value_or(0) == 0) return std::nullopt;
  ForeachCopy copy;
  copy.optimizer = AnnotatedText(failed.annotations, fact::kOptimizerClass);
  copy.copy_bytes = *copy_bytes;
  copy.made_bytes = std::min(copy.copy_bytes, MadeSoFar(failed, captured, live, source));
  const uint64_t to_make = copy.copy_bytes - copy.made_bytes;
  copy.still_needed = to_make - std::min(to_make, failed.event.obtainable);
  const auto announced = AnnouncedStates(failed, copy);
  copy.states_complete =
      announced && BytesOfRole(at_failure, trace::Role::kOptimizerState) >= *announced;
  return copy;
}

}  // namespace memtrace::analysis
