// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_FOREACH_COPY_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_FOREACH_COPY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::analysis {

// A failed request that is a piece of the temporary copy which torch's foreach optimizers make of
// their states, all tensors at once (torch/optim/adam.py, _multi_tensor_adam).
struct ForeachCopy {
  std::string optimizer;         // "AdamW"; empty if the hook did not say
  uint64_t copy_bytes = 0;       // of the whole copy, as the optimizer hook announced it
  uint64_t made_bytes = 0;       // of it, when the request failed
  uint64_t still_needed = 0;     // for the rest of the copy, beyond what was available
  bool states_complete = false;  // all states that the optimizer will ever have exist
};

// Returns nothing if the request is no such piece, or if the hook did not announce the copy's size.
// `captured` is what lived when the request failed, `at_failure` the same by role.
std::optional<ForeachCopy> FindForeachCopy(const FailedRequest& failed,
                                           const std::vector<CapturedBlock>& captured,
                                           const Breakdown& at_failure, const LiveSet& live,
                                           const EventSource& source);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_FOREACH_COPY_H_
