// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_CARD_FIELDS_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_CARD_FIELDS_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "profiler/trace/events/event.h"
#include "profiler/trace/vocabulary/ledger_entries.h"

namespace memtrace::trace {

struct CardField {
  std::string_view name;
  uint64_t CardLedger::*value;
};

// The fields of a CardLedger, with the names that text and reports use.
inline constexpr std::array<CardField, 17> kCardFields = {{
    {"total", &CardLedger::total},
    {entry::kFree, &CardLedger::free},
    {entry::kContext, &CardLedger::context},
    {entry::kOtherProcesses, &CardLedger::other_processes},
    {entry::kOutsideAllocator, &CardLedger::outside_allocator},
    {"reserved", &CardLedger::reserved},
    {"live_requested", &CardLedger::live_requested},
    {"live_allocated", &CardLedger::live_allocated},
    {entry::kStreamWait, &CardLedger::stream_wait},
    {entry::kCached, &CardLedger::cached},
    {entry::kHoles, &CardLedger::holes},
    {"largest_hole", &CardLedger::largest_hole},
    {entry::kPrivatePools, &CardLedger::private_pools},
    {entry::kAsleep, &CardLedger::asleep},
    {entry::kOnHost, &CardLedger::on_host},
    {entry::kHostCopies, &CardLedger::host_copies},
    {entry::kHostPooled, &CardLedger::host_pooled},
}};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_CARD_FIELDS_H_
