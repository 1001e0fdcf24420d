// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/verdict/rest_of_step.h"

#include <algorithm>
#include <array>
#include <string>

#include "tools/analysis/holders/call_sizes.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

using trace::Phase;
using trace::Role;

// The hooks announce each card separately. Older traces have one number, which is right for a
// program that trains on one card.
std::optional<uint64_t> BytesAnnounced(const FailedRequest& failed,
                                       const fact::NumberedKey& of_card, std::string_view of_all) {
  const std::string key = of_card.Of(failed.event.device);
  if (failed.annotations.contains(key)) return AnnotatedNumber(failed.annotations, key);
  return AnnotatedNumber(failed.annotations, of_all);
}

// Returns nothing if no optimizer announced its states, or if no update is known to come: a pass in
// which all states exist may be an evaluation.
std::optional<OptimizerNeed> NeedOfOptimizers(const FailedRequest& failed, const Breakdown& held,
                                              const std::optional<ForeachCopy>& copy) {
  const auto states =
      BytesAnnounced(failed, fact::kOptimizerStatesToMake, fact::kOptimizerStateBytes);
  if (!states) return std::nullopt;
  const uint64_t made = BytesOfRole(held, Role::kOptimizerState);
  const Phase phase = failed.at.phase;
  const bool is_certain = phase == Phase::kBackward || phase == Phase::kOptimizer;
  if (made >= *states && !is_certain) return std::nullopt;
  OptimizerNeed need;
  need.states_made = std::min(made, *states);
  need.states = *states - need.states_made;
  need.copy =
      BytesAnnounced(failed, fact::kOptimizerCopyToMake, fact::kOptimizerCopyBytes).value_or(0);
  if (copy) need.copy = Less(copy->copy_bytes, copy->made_bytes);
  if (phase != Phase::kOptimizer) {
    const auto trained =
        AnnotatedNumber(failed.annotations, fact::kOptimizerTrainedBytes.Of(failed.event.device));
    need.gradients = Less(trained.value_or(0), BytesOfRole(held, Role::kGradient));
  }
  return need;
}

// Returns the bytes of a model that were still to be moved or loaded to the card.
uint64_t ToBePlaced(const FailedRequest& failed) {
  const std::string key = fact::kPlacingToCome.Of(failed.event.device);
  return AnnotatedNumber(failed.annotations, key).value_or(0);
}

// Returns the bytes in use now that are gone when the optimizer begins.
uint64_t GoneAtUpdate(const FailedRequest& failed, const Breakdown& held) {
  if (failed.at.phase == Phase::kOptimizer) return 0;
  return BytesOfRole(held, Role::kActivation) + BytesOfRole(held, Role::kTemporary) +
         BytesOfRole(held, Role::kWorkspace);
}

// True if other optimizers have not stepped yet: their gradients are also to come, if they are not
// freed at once.
bool OtherOptimizersWait(const FailedRequest& failed) {
  const std::string key = fact::kOptimizerOthersWait.Of(failed.event.device);
  return AnnotatedNumber(failed.annotations, key).value_or(0) != 0;
}

// Returns the bytes that a loss still takes if the request is the copy of the logits in 32 bits
// that it begins with: the logarithm of their softmax is as large.
uint64_t OfLoss(const FailedRequest& failed) {
  if (failed.at.phase != Phase::kForward) return 0;
  const uint64_t copy = LogitsOfCall(failed.annotations, sizeof(float));
  return copy == failed.event.requested ? copy : 0;
}

uint64_t OfLayers(const BegunPass& pass) { return pass.layers ? pass.layers->to_come : 0; }

// Step 4 of PredictRestOfStep.
RestOfStep RestOfUpdate(const FailedRequest& failed, const Breakdown& held,
                        const std::optional<ForeachCopy>& copy, const BegunPass& pass) {
  RestOfStep rest;
  const uint64_t request = failed.event.requested;
  if (const auto optimizers = NeedOfOptimizers(failed, held, copy)) {
    rest.optimizer = *optimizers;
    rest.source = copy ? NeedSource::kForeachCopy : NeedSource::kOptimizer;
    rest.gone_at_update = GoneAtUpdate(failed, held);
    if (failed.at.phase != Phase::kOptimizer)
      rest.request = std::max(request + OfLoss(failed), OfLayers(pass));
    rest.rise = std::max(rest.RiseWith(*optimizers), request);
    rest.at_least = failed.at.phase != Phase::kOptimizer || OtherOptimizersWait(failed);
  } else if (copy) {
    rest.source = NeedSource::kForeachCopy;
    rest.optimizer.copy = Less(copy->copy_bytes, copy->made_bytes);
    rest.rise = std::max(rest.optimizer.copy, request);
  }
  return rest;
}

}  // namespace

std::string_view NeedSourceName(NeedSource source) {
  static constexpr auto kNames = std::to_array<std::string_view>({
#define MEMTRACE_NEED_SOURCE(name, text, meaning) text,
#include "profiler/trace/vocabulary/need_sources.def"
#undef MEMTRACE_NEED_SOURCE
  });
  return kNames[static_cast<size_t>(source)];
}

uint64_t RestOfStep::OfPass() const {
  if (cache) return cache->to_come;
  return layers && rise == layers->to_come ? layers->to_come : 0;
}

uint64_t RestOfStep::RiseWith(const OptimizerNeed& other) const {
  return std::max(Less(other.bytes(), gone_at_update), request);
}

RestOfStep PredictRestOfStep(const FailedRequest& failed, const Breakdown& held,
                             const std::optional<ForeachCopy>& copy, const BegunPass& pass) {
  RestOfStep rest;
  const uint64_t request = failed.event.requested;
  if (const uint64_t to_come = ToBePlaced(failed); to_come > 0) {  // 1
    rest.source = NeedSource::kPlacement;
    rest.rise = std::max(to_come, request);
    rest.at_least = true;
    return rest;
  }
  if (pass.cache) {  // 2
    rest.source = NeedSource::kKvCache;
    rest.cache = pass.cache;
    rest.rise = pass.cache->to_come + request;
    rest.at_least = true;
    return rest;
  }
  if (failed.rise_of_previous_step) {  // 3
    rest.source = NeedSource::kPreviousStep;
    rest.rise = std::max(*failed.rise_of_previous_step, request);
    return rest;
  }
  rest = RestOfUpdate(failed, held, copy, pass);     // 4
  if (pass.layers && !failed.rise_of_micro_batch) {  // 5
    rest.layers = pass.layers;
    if (rest.source == NeedSource::kUnknown) rest.source = NeedSource::kLayers;
    rest.rise = std::max({OfLayers(pass), rest.rise.value_or(0), request});
    rest.at_least = true;
  }
  if (failed.rise_of_micro_batch) {  // 6
    rest.source = NeedSource::kPreviousMicroBatch;
    rest.rise = std::max({*failed.rise_of_micro_batch, rest.rise.value_or(0), request});
    rest.at_least = false;
  }
  return rest;
}

RestOfStep PredictFromFirstStep(RestOfStep rest, const FailedRequest& failed, uint64_t unused) {
  const auto& rise = failed.rise_of_same_request;
  const bool is_known = rest.rise && !rest.at_least;
  if (is_known || failed.at.step != 2 || !rise || *rise > unused) return rest;
  rest.source = NeedSource::kPreviousStep;
  rest.rise = std::max({*rise, rest.rise.value_or(0), failed.event.requested});
  rest.at_least = false;
  return rest;
}

}  // namespace memtrace::analysis
