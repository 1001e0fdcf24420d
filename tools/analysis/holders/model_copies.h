// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_COPIES_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_COPIES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/source/event_source.h"

// Tells from the paths of parameters whether a model exists twice and whether its gradients are
// used.
namespace memtrace::analysis {

// Parameters that already exist under the same path and with the same size: clones of a model that
// is not trained. The two could share their memory until one is written.
struct ModelCopy {
  std::string site;  // the line that made them
  uint64_t bytes = 0;
  uint64_t parameters = 0;
};

// Returns the copies by line, largest first; the oldest of each path is the original. Parameters
// with a gradient or optimizer states do not count, because an update writes one of the two, which
// then share no memory. A line that made less than half of the model made new weights (p - lr * g),
// not a copy.
std::vector<ModelCopy> FindModelCopies(const std::vector<CapturedBlock>& captured,
                                       const LiveSet& live, const EventSource& source);

// Gradients of parameters for which no optimizer has states, although one has states of others.
struct UnsteppedGradients {
  std::string name;  // of most of them: "model.layers.*.mlp"
  uint64_t bytes = 0;
};

UnsteppedGradients FindUnstepped(const std::vector<CapturedBlock>& captured, const LiveSet& live,
                                 const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_COPIES_H_
