// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_FAILURE_CAUSE_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_FAILURE_CAUSE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// Why the program could not go on, as causes.def lists it. Said by the process in its error and by
// the report, so the rule stands here, once.
enum class FailureCause : uint8_t {
#define MEMTRACE_CAUSE(name, text, meaning) k##name,
#include "profiler/trace/vocabulary/causes.def"
#undef MEMTRACE_CAUSE
};
std::string_view FailureCauseName(FailureCause cause);  // "stream_wait"

// What is known beside the event. Bytes.
struct FailureFacts {
  // What the rest of the step would have requested beyond what is in use, the request included.
  std::optional<uint64_t> rest_of_step;
  // What of the cache lies in whole segments, or granules, that the driver could take back.
  std::optional<uint64_t> releasable;
  bool total_known = true;  // else the card's size is only a sum of what was seen
};

// The cause of `event` on its card, whose ledger is `card`.
FailureCause CauseOfFailure(const OutOfMemory& event, const CardLedger& card,
                            const FailureFacts& facts = {});

// True if the request would not fit on the card, even if nothing else were there.
bool IsLargerThanCard(const OutOfMemory& event, const CardLedger& card);

// Requested minus what could be had, bytes; 0 if a hole of that size existed.
uint64_t ShortBy(const OutOfMemory& event);

// The ledger of the card that failed; null if the event does not carry it.
const CardLedger* FailedCard(const OutOfMemory& event);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_FAILURE_CAUSE_H_
