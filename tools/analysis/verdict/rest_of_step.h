// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_REST_OF_STEP_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_REST_OF_STEP_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/verdict/cache_to_come.h"
#include "tools/analysis/verdict/foreach_copy.h"
#include "tools/analysis/verdict/layers_to_come.h"

namespace memtrace::analysis {

// The source from which the need of the rest of the step is known; need_sources.def describes each.
enum class NeedSource : uint8_t {
#define MEMTRACE_NEED_SOURCE(name, text, meaning) k##name,
#include "profiler/trace/vocabulary/need_sources.def"
#undef MEMTRACE_NEED_SOURCE
};
std::string_view NeedSourceName(NeedSource source);  // "previous_step"

// States, gradients and copies that training still has to make. Bytes.
struct OptimizerNeed {
  uint64_t gradients = 0;    // to come
  uint64_t states = 0;       // to come
  uint64_t states_made = 0;  // of `states + states_made` in all
  uint64_t copy = 0;         // to come for a moment in each update, after the states

  uint64_t bytes() const { return gradients + states + copy; }
};

// The memory that the step would still have requested when one of its requests failed.
struct RestOfStep {
  NeedSource source = NeedSource::kUnknown;
  // Bytes by which requested memory would have risen above what is in use, the failed request
  // included. Nothing if it is not known.
  std::optional<uint64_t> rise;
  OptimizerNeed optimizer;  // zeros if it is not known
  std::optional<CacheToCome> cache = std::nullopt;
  std::optional<LayersToCome> layers = std::nullopt;
  uint64_t gone_at_update = 0;  // of what is in use: bytes that are gone when optimizers step
  // Bytes that the pass still takes: the failed request, or the layers to come, which hold it; 0 if
  // the request is one of the optimizers'.
  uint64_t request = 0;
  // True if `rise` is only what the optimizers will need, a model's weights, layers or a KV cache:
  // the passes before or after may need more.
  bool at_least = false;

  // Returns the part of `rise` for layers or a KV cache that a pass had not come to; 0 if something
  // else needs more.
  uint64_t OfPass() const;

  // Returns `rise` for the case that optimizers need `other`. REQUIRES: `source` is kOptimizer or
  // kForeachCopy.
  uint64_t RiseWith(const OptimizerNeed& other) const;
};

// The cache and the layers that a pass had begun when a request failed.
struct BegunPass {
  std::optional<CacheToCome> cache = std::nullopt;
  std::optional<LayersToCome> layers = std::nullopt;
};

// Predicts the rest of the step. The first of 1 to 4 that is known counts; then 5 or 6 raises 4, or
// counts alone:
//
//   1. the rest of a model on its way to the card (a lower bound);
//   2. the layers of a KV cache to come (likewise);
//   3. what the step before still requested from the same place on;
//   4. what optimizers announced, else the rest of a foreach copy; a lower bound before the update,
//      and in it if other optimizers wait;
//   5. the layers that the forward pass had not come to (a lower bound), unless there is
//   6. what the micro-batch before still requested (no lower bound).
//
// `held` is what is in use on the card of the request when it failed.
RestOfStep PredictRestOfStep(const FailedRequest& failed, const Breakdown& held,
                             const std::optional<ForeachCopy>& copy, const BegunPass& pass = {});

// Returns the rise of the first step, from the same request on, if the rest is not known and that
// rise is no more than the `unused` bytes of the card. It includes making the optimizer's states,
// so the second step rises by less.
RestOfStep PredictFromFirstStep(RestOfStep rest, const FailedRequest& failed, uint64_t unused);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_REST_OF_STEP_H_
