// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_REFUSALS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_REFUSALS_H_

#include <cstdint>
#include <string>

namespace memtrace::card {

// What the simulation takes from the host.
enum class HostNeed {
  kContents,      // pages of the backing file
  kPinnedMemory,  // and managed memory: addresses of the process
};

// Why the host did not give it and what to do, in one sentence. `error` is an errno.
std::string HostRefusal(HostNeed need, std::uint64_t bytes, int error);

// Says so on stderr, the first time for each need: to the program it is "out of memory" or not to
// be seen at all, and the card is not what ran out. Safe from any thread.
void SayHostRefused(HostNeed need, std::uint64_t bytes, int error);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_HOST_REFUSALS_H_
