// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VERDICT_VERDICT_H_
#define MEMTRACE_TOOLS_ANALYSIS_VERDICT_VERDICT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "profiler/trace/events/failure_cause.h"
#include "tools/analysis/holders/breakdown.h"
#include "tools/analysis/replayed/card_ledger.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/verdict/foreach_copy.h"
#include "tools/analysis/verdict/rest_of_step.h"

namespace memtrace::analysis {

using Cause = trace::FailureCause;

// Contributions as contributions.def describes them.
enum class ContributionKind : uint8_t {
#define MEMTRACE_CONTRIBUTION(name, text, meaning) k##name,
#include "profiler/trace/vocabulary/contributions.def"
#undef MEMTRACE_CONTRIBUTION
};
std::string_view ContributionName(ContributionKind kind);  // "private_pool"

// Something that is not the cause, but without which the request might have been served.
struct Contribution {
  ContributionKind kind = ContributionKind::kTransient;
  uint64_t bytes = 0;
};

struct Verdict {
  Cause cause = Cause::kNone;
  uint64_t short_by = 0;  // requested minus what was available
  uint64_t requested = 0;
  uint64_t releasable = 0;  // what emptying the cache would give the driver
  std::vector<Contribution> contributing;
  RestOfStep rest;
  // Bytes by which `rest` exceeds all unused memory together; at least short_by.
  std::optional<uint64_t> step_short_by;
  bool is_larger_than_card = false;  // of cause kTooLarge: larger than the whole card
};

// Returns trace::CauseOfFailure for the ledger that the report shows.
Cause CauseOf(const trace::OutOfMemory& event, const Ledger& ledger,
              const trace::FailureFacts& facts = {});

// Returns the unused memory: free, cached and holes together.
uint64_t Unused(const Ledger& ledger);

// The evidence for the verdict on a failed request.
struct FailureEvidence {
  RestOfStep rest;
  std::optional<ForeachCopy> copy;
  uint64_t private_pool_bytes = 0;
  std::optional<uint64_t> releasable = {};  // by the replay; nothing if no segments are known
};

// Judges why a request failed: the cause by trace::CauseOfFailure, and what else held at least as
// much as was missing.
Verdict JudgeFailure(const FailedRequest& failed, const Ledger& ledger,
                     const FailureEvidence& evidence);

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VERDICT_VERDICT_H_
