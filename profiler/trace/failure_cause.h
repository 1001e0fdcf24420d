// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_FAILURE_CAUSE_H_
#define MEMTRACE_PROFILER_TRACE_FAILURE_CAUSE_H_

#include <cstdint>
#include <string_view>

#include "profiler/trace/event.h"

namespace memtrace::trace {

// Why a request could not be served: the first that matches, in this order. Said by the process in
// its error and by the report, so the rule stands here, once.
enum class FailureCause : uint8_t {
  kNone,
  kLimit,          // the card could have served it, the limit set for this process forbids it
  kStreamWait,     // memory that waits for a stream would have sufficed with what could be had
  kFragmentation,  // free, cached and holes together would have sufficed
  kOtherProcess,   // what is missing is less than what other processes hold
  kCapacity,
};
std::string_view FailureCauseName(FailureCause cause);  // "stream_wait"

// The cause of `event` on its card, whose ledger is `card`.
FailureCause CauseOfFailure(const OutOfMemory& event, const CardLedger& card);

// Requested minus what could be had, bytes; 0 if a hole of that size existed.
uint64_t ShortBy(const OutOfMemory& event);

// The ledger of the card that failed; null if the event does not carry it.
const CardLedger* FailedCard(const OutOfMemory& event);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_FAILURE_CAUSE_H_
