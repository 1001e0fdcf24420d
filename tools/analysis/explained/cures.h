// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CURES_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CURES_H_

#include <optional>
#include <vector>

#include "tools/analysis/cures/remedies.h"
#include "tools/analysis/verdict/next_step.h"

namespace memtrace::analysis {

// Changes that would help, and the need of the next step.
struct ExplainedCures {
  std::optional<NextStep> next_step;
  std::vector<Remedy> remedies;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_CURES_H_
