// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_REFUSALS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_REFUSALS_H_

#include <cstdint>
#include <string>

namespace memtrace::card {

// Memory that the simulation takes from the host.
enum class HostNeed {
  kContents,      // pages of the backing file
  kPinnedMemory,  // also managed memory: addresses of the process
};

// Returns why the host refused it and what to do, in one sentence. `error` is an errno.
std::string HostRefusal(HostNeed need, std::uint64_t bytes, int error);

// Prints it on stderr, the first time for each need: the program sees "out of memory" or nothing at
// all, although the card is not what ran out. Safe from any thread.
void WarnHostRefused(HostNeed need, std::uint64_t bytes, int error);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_REFUSALS_H_
