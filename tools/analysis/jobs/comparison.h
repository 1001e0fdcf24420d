// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_JOBS_COMPARISON_H_
#define MEMTRACE_TOOLS_ANALYSIS_JOBS_COMPARISON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/jobs/job_shape.h"
#include "tools/analysis/jobs/rank_kinds.h"
#include "tools/analysis/process_view.h"

namespace memtrace::analysis {

// A reason why one process holds more or less than another.
struct PeakCause {
  enum class Kind : uint8_t {
    kModule,        // only one of them holds anything of a module, with its parameters
    kMicroBatches,  // they hold activations of different numbers of micro-batches
    kLoss,          // logits and what a loss makes of them
    kLayers,        // they have different numbers of numbered layers
    kHolder,        // one role at one site
    kRest,          // what no other cause has
  };

  Kind kind = Kind::kRest;
  int64_t bytes = 0;  // what the process has more than the other; negative: less
  trace::Role role = trace::Role::kUnknown;  // of kHolder
  std::string site;    // of kHolder; the module of kModule, the layers' common name of kLayers
  std::string line;    // where the largest part was made; may be empty
  uint64_t count = 0;  // of micro-batches or layers of the process
  uint64_t other_count = 0;  // of the other
};

// The difference between what two processes hold, each at its own peak. Requested bytes.
struct Comparison {
  size_t process = 0;
  size_t with = 0;
  int64_t bytes = 0;              // the difference of the peaks
  std::vector<PeakCause> causes;  // largest first; sum to `bytes`
};

// `in_pipeline`: IsPipeline(). Only then do calls of layers count as micro-batches.
Comparison Compare(const std::vector<ProcessView>& views, size_t process, size_t with,
                   bool in_pipeline);

// True if the job has a dimension of pipeline stages, or if a process holds what a pipeline of
// torch, DeepSpeed or Megatron made.
bool IsPipeline(const std::vector<ProcessView>& views, const JobShape& shape);

// Compares the kinds that hold most and least, and those far from the others (FindOutliers), with
// the kind in the middle; of two kinds the one that holds more with the other. Leaves out
// differences of less than 1 percent.
std::vector<Comparison> ComparisonsOf(const std::vector<ProcessView>& views, const JobShape& shape,
                                      const std::vector<RankKind>& kinds);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_JOBS_COMPARISON_H_
