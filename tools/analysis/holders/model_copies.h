// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_COPIES_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_COPIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"

// What the paths of parameters tell of a model: is it there twice, and are its gradients of use.
namespace memtrace::analysis {

// Parameters that are there already under the same path and of the same size: clones of a model
// that is not trained. The two could share their memory until one is written.
struct ModelCopy {
  std::string site;  // the line that made them
  uint64_t bytes = 0;
  uint64_t parameters = 0;
};

// By line, largest first; the oldest of each path is the original. Parameters with a gradient or
// optimizer states count for nothing: an update writes one of the two, which share no memory then.
// A line that made less than half of the model made new weights (p - lr * g), not a copy of it.
std::vector<ModelCopy> FindModelCopies(const std::vector<CapturedBlock>& captured,
                                       const LiveSet& live, const EventSource& source);

// Gradients of parameters of which no optimizer has states, where it has of others.
struct UnsteppedGradients {
  std::string name;  // of most of them: "model.layers.*.mlp"
  uint64_t bytes = 0;
};

UnsteppedGradients FindUnstepped(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                                 const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_COPIES_H_
