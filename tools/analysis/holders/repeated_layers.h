// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_REPEATED_LAYERS_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_REPEATED_LAYERS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// The activations of modules that differ only in their number, "model.layers.*". Bytes.
struct RepeatedLayers {
  std::string name;
  uint64_t count = 0;    // of layers with activations
  uint64_t bytes = 0;    // of all of them
  uint64_t largest = 0;  // of one layer
  // Bytes that checkpointing keeps of a layer, its input: the size that most of the layers' blocks
  // have, because they have the shape that goes from layer to layer.
  uint64_t boundary = 0;
  // Derived from the stack of one of the activations.
  bool is_of_transformers = false;  // the model has gradient_checkpointing_enable()
  bool is_in_users_module = false;  // that model is a part of a module of the user's
  bool is_checkpointed = false;     // torch.utils.checkpoint runs them
  bool is_transformed = false;      // torch.func runs them, within which it cannot
};

// Returns groups of four layers or more, largest first.
std::vector<RepeatedLayers> FindRepeatedLayers(const std::vector<CapturedBlock>& captured,
                                               const LiveSet& live, const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_REPEATED_LAYERS_H_
