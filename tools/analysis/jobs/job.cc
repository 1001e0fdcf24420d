// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/job.h"

#include <utility>

namespace memtrace::analysis {

Job JobOf(std::vector<ProcessView> processes) {
  ArrangeProcesses(processes);
  Job job;
  job.processes = std::move(processes);
  job.shape = ShapeOf(job.processes);
  job.kinds = KindsOf(job.processes);
  job.comparisons = ComparisonsOf(job.processes, job.shape, job.kinds);
  job.imbalance = ImbalanceOf(job.processes, job.shape, job.kinds);
  return job;
}

}  // namespace memtrace::analysis
