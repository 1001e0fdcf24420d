// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REST_OF_STEP_H_
#define MEMTRACE_TOOLS_ANALYSIS_REST_OF_STEP_H_

#include <cstdint>
#include <optional>

#include "tools/analysis/breakdown.h"
#include "tools/analysis/cache_to_come.h"
#include "tools/analysis/foreach_copy.h"
#include "tools/analysis/timeline.h"

namespace memtrace::analysis {

// How the need of the rest of the step is known.
enum class NeedSource : uint8_t {
  kUnknown,
  kForeachCopy,         // the request is a piece of a copy whose size the optimizer hook announced
  kOptimizer,           // from the sizes of the parameters that the optimizers train
  kPlacement,           // the rest of a model that is on its way to the card
  kKvCache,             // the layers of a KV cache that generate() had not made yet
  kPreviousMicroBatch,  // and, if that is more, from the optimizers
  kPreviousStep,
};

// States, gradients and copies that training makes, as far as they do not exist yet. Bytes.
struct OptimizerNeed {
  uint64_t gradients = 0;    // to come
  uint64_t states = 0;       // to come
  uint64_t states_made = 0;  // of `states + states_made` in all
  uint64_t copy = 0;         // to come for a moment in each update, after the states

  uint64_t bytes() const { return gradients + states + copy; }
};

// What the step would still have requested when one of its requests failed.
struct RestOfStep {
  NeedSource source = NeedSource::kUnknown;
  // How far requested bytes would have risen above what is in use, the failed request included.
  // Nothing if it is not known.
  std::optional<uint64_t> rise;
  OptimizerNeed optimizer;  // zeros if it is not known
  std::optional<CacheToCome> cache = std::nullopt;
  uint64_t gone_at_update = 0;  // of what is in use: bytes that are gone when optimizers step
  uint64_t request = 0;         // the failed one; 0 if it is one of the optimizers'
  // True if `rise` is only what the optimizers will need, a model's weights or a KV cache: the
  // passes before or after may need more.
  bool at_least = false;

  // What `rise` would be if optimizers needed this. REQUIRES: `source` is kOptimizer or
  // kForeachCopy.
  uint64_t RiseWith(const OptimizerNeed& other) const;
};

// `held` is what is in use on the card of the request when it failed, and `cache` what of it
// generate() had begun.
RestOfStep ForeseeRestOfStep(const FailedRequest& failed, const Breakdown& held,
                             const std::optional<ForeachCopy>& copy,
                             const std::optional<CacheToCome>& cache = std::nullopt);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REST_OF_STEP_H_
