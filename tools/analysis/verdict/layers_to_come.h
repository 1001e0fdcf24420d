// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_LAYERS_TO_COME_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_LAYERS_TO_COME_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/timeline.h"

namespace memtrace::analysis {

// Bytes that a forward pass which failed in the middle of a model's layers would still have kept.
struct LayersToCome {
  std::string name;      // "model.layers.*"
  uint64_t current = 0;  // the layer that ran, from 0
  uint64_t layers = 0;   // of the model
  uint64_t each = 0;     // what a layer before it keeps
  uint64_t to_come = 0;  // of the rest of that layer and of those after it, if they keep as much

  // Returns the bytes of it that checkpointing, which keeps `boundary` of a layer, would not keep.
  uint64_t WithoutBoundaries(uint64_t boundary) const;
};

// Returns nothing unless a forward pass failed in which three layers or more are done and keep
// about the same, and the model has parameters of a later one.
std::optional<LayersToCome> FindLayersToCome(const FailedRequest& failed,
                                             const std::vector<CapturedBlock>& captured,
                                             const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_LAYERS_TO_COME_H_
