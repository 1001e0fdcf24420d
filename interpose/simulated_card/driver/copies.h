// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_COPIES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_COPIES_H_

// Helpers for copies in one and in more dimensions.
#include <cstdint>

#include "interpose/simulated_card/driver/driver_api.h"

namespace memtrace::card {

// kOnReturn marks synchronous functions such as cuMemcpy, kNever asynchronous ones.
enum class Blocking { kNever, kOnReturn };

// True if the host waits: for blocking copies that involve host memory, and always for a copy to
// pageable memory, but not within the card ("API synchronization behavior", manual of the runtime).
bool HostWaits(Machine& machine, Address to, Address from, Blocking blocking);

// Copies one row now, as part of `work`.
Result MoveBytes(Machine& machine, const Work& work, Address to, Address from, std::uint64_t bytes,
                 const char* call);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_COPIES_H_
