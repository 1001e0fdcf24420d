// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_FAILURE_CAUSE_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_FAILURE_CAUSE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// Why the program ran out of memory; causes.def lists the causes. The rule is defined once, here,
// because both the process's error and the report use it.
enum class FailureCause : uint8_t {
#define MEMTRACE_CAUSE(name, text, meaning) k##name,
#include "profiler/trace/vocabulary/causes.def"
#undef MEMTRACE_CAUSE
};
std::string_view FailureCauseName(FailureCause cause);  // "stream_wait"

// Facts in addition to the event, in bytes.
struct FailureFacts {
  // Bytes that the rest of the step would have requested beyond those in use, including the failed
  // request.
  std::optional<uint64_t> rest_of_step;
  // Cached bytes in whole segments or granules, which the driver could take back.
  std::optional<uint64_t> releasable;
  bool total_known = true;  // otherwise the card's size is only a sum of known parts
};

// Returns the cause of `event` on its card, whose ledger is `card`.
FailureCause CauseOfFailure(const OutOfMemory& event, const CardLedger& card,
                            const FailureFacts& facts = {});

// True if the request would not fit on the card even if nothing else were on it.
bool IsLargerThanCard(const OutOfMemory& event, const CardLedger& card);

// Returns requested minus obtainable bytes; 0 if a hole of that size existed.
uint64_t ShortBy(const OutOfMemory& event);

// Returns the ledger of the card that failed; null if the event does not contain it.
const CardLedger* FailedCard(const OutOfMemory& event);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_FAILURE_CAUSE_H_
