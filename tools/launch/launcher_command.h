// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_LAUNCH_LAUNCHER_COMMAND_H_
#define MEMTRACE_TOOLS_LAUNCH_LAUNCHER_COMMAND_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/launch/job_ranks.h"

namespace memtrace::launch {

// Returns the command of one rank. That is `command`, unless it starts torch's launcher (torchrun,
// python -m torch.distributed.run): then it is what the launcher would start, without the
// launcher's own options. Returns kInvalidArgument with a sentence if --nproc-per-node or --nnodes
// does not agree with the job, an option is not known, or the launcher is another one.
absl::StatusOr<std::vector<std::string>> CommandOfRank(const std::vector<std::string>& command,
                                                       const JobRanks& job);

}  // namespace memtrace::launch

#endif  // MEMTRACE_TOOLS_LAUNCH_LAUNCHER_COMMAND_H_
