// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/trace/failure_cause.h"
#include "tools/analysis/breakdown.h"
#include "tools/analysis/card_ledger.h"
#include "tools/analysis/foreach_copy.h"
#include "tools/analysis/timeline.h"

namespace memtrace::analysis {

using Cause = trace::FailureCause;

// Something that is not the cause, but without which the request might have been served.
struct Contribution {
  std::string_view name;  // transient, growth, private_pool, outside_allocator
  uint64_t bytes = 0;
};

// How the need of the rest of the step is known.
enum class NeedSource : uint8_t { kUnknown, kForeachCopy, kPreviousStep };

struct Verdict {
  Cause cause = Cause::kNone;
  uint64_t short_by = 0;  // requested minus what could be had
  uint64_t requested = 0;
  std::vector<Contribution> contributing;
  std::optional<uint64_t> step_short_by;  // at least short_by
  NeedSource step_need = NeedSource::kUnknown;
};

// trace::CauseOfFailure, with the ledger that the report shows.
Cause CauseOf(const trace::OutOfMemory& event, const Ledger& ledger);

Verdict JudgeFailure(const FailedRequest& failed, const Ledger& ledger,
                     const std::optional<ForeachCopy>& copy, uint64_t private_pool_bytes);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_H_
