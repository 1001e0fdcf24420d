// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_PLAIN_NUMBERS_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_PLAIN_NUMBERS_H_

#include <cstdint>

#include "base/units.h"

namespace memtrace::recorder {

// Returns what an event of a trace holds: its fields are plain numbers.
constexpr int32_t Number(DeviceIndex device) { return static_cast<int32_t>(device); }
constexpr uint64_t Number(StreamId stream) { return static_cast<uint64_t>(stream); }

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_PLAIN_NUMBERS_H_
