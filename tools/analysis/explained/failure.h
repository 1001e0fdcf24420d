// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_FAILURE_H_
#define MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_FAILURE_H_

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/holders/call_sizes.h"
#include "tools/analysis/source/variables.h"
#include "tools/analysis/verdict/explained_request.h"
#include "tools/analysis/verdict/foreach_copy.h"
#include "tools/analysis/verdict/verdict.h"

namespace memtrace::analysis {

// The reason why a request failed. Without a failure it holds only the verdict's defaults.
struct ExplainedFailure {
  Verdict verdict;
  std::optional<ExplainedRequest> request;
  // The last failed request, if the program completed nevertheless.
  std::optional<ExplainedRequest> got_over;
  // Traces beside this one whose processes ran out of memory, if this one's did not.
  std::vector<std::string> ran_out_beside;
  std::optional<ForeachCopy> foreach_copy;
  std::optional<LargestCall> largest_call;
  std::vector<Variable> variables;  // that held memory of the card of the verdict
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_EXPLAINED_FAILURE_H_
