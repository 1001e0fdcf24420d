// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_JOBS_JOB_SHAPE_H_
#define MEMTRACE_TOOLS_ANALYSIS_JOBS_JOB_SHAPE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/process_view.h"

namespace memtrace::analysis {

// The thing that the ranks of a dimension divide among them: layers, tensors, data.
enum class Parallelism : uint8_t { kPipeline, kTensor, kData, kContext, kExpert, kOther };

// Returns it by the names that libraries give to their groups: "pp", "PIPELINE_MODEL_PARALLEL".
Parallelism ParallelismNamed(std::string_view name);

// A direction in which the ranks of a job are arranged.
struct JobDimension {
  std::string name;     // of the groups; empty if no group has this direction
  uint64_t size = 0;    // at least 2
  uint64_t stride = 0;  // the distance in ranks from one place to the next

  uint64_t PlaceOf(uint64_t rank) const { return rank / stride % size; }
  Parallelism parallelism() const { return ParallelismNamed(name); }
};

// How the ranks of a job are arranged: rank = the sum of place * stride over the dimensions.
struct JobShape {
  uint64_t world = 0;                    // ranks; 0: not known
  std::vector<JobDimension> dimensions;  // those that groups name, largest stride first

  const JobDimension* pipeline() const;  // null if there is none
  // Returns the dimensions with unnamed ones between them, so that each rank has places of its own.
  std::vector<JobDimension> Whole() const;
};

// Finds the dimensions in the groups that all readable traces with groups state. Of groups that
// overlap, such as flattened dimensions of a mesh, those count that divide the job most finely.
JobShape ShapeOf(const std::vector<ProcessView>& views);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_JOBS_JOB_SHAPE_H_
