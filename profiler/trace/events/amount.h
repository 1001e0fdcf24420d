// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_AMOUNT_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_AMOUNT_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace memtrace::trace {

// Returns the bytes of "256MiB", "1GiB", "512KiB" or a plain number; nothing if it is none of these
// or too large for 64 bits.
std::optional<uint64_t> BytesOf(std::string_view text);

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_AMOUNT_H_
