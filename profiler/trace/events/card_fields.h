// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_CARD_FIELDS_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_CARD_FIELDS_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

struct CardField {
  std::string_view name;
  uint64_t CardLedger::*value;
};

// The fields of a CardLedger, with the names that text and reports use.
inline constexpr std::array<CardField, 17> kCardFields = {{
    {"total", &CardLedger::total},
    {"free", &CardLedger::free},
    {"context", &CardLedger::context},
    {"other_processes", &CardLedger::other_processes},
    {"outside_allocator", &CardLedger::outside_allocator},
    {"reserved", &CardLedger::reserved},
    {"live_requested", &CardLedger::live_requested},
    {"live_allocated", &CardLedger::live_allocated},
    {"stream_wait", &CardLedger::stream_wait},
    {"cached", &CardLedger::cached},
    {"holes", &CardLedger::holes},
    {"largest_hole", &CardLedger::largest_hole},
    {"private_pools", &CardLedger::private_pools},
    {"asleep", &CardLedger::asleep},
    {"on_host", &CardLedger::on_host},
    {"host_copies", &CardLedger::host_copies},
    {"host_pooled", &CardLedger::host_pooled},
}};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_CARD_FIELDS_H_
