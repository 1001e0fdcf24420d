// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_COPIES_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_COPIES_H_

// What copies in one and in more dimensions share.
#include <cstdint>

#include "interpose/simulated_card/driver/driver_api.h"

namespace memtrace::card {

// Whether the function is one that tells the host of the end.
enum class Blocking { kNever, kOnReturn };

// The host waits for blocking copies with a side of the host's, and always for a copy to pageable
// memory, but not for one within the card ("API synchronization behavior", manual of the runtime).
bool HostWaits(Machine& machine, Address to, Address from, Blocking blocking);

// One row, now, as part of `work`.
Result MoveBytes(Machine& machine, const Work& work, Address to, Address from, std::uint64_t bytes,
                 const char* call);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_COPIES_H_
