// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_SLEEPING_OWNERS_H_
#define MEMTRACE_INTERPOSE_CORE_SLEEPING_OWNERS_H_

#include <cstdint>

namespace memtrace {

// If memory at `address` sleeps, writes its owner's name, at most size - 1 bytes and a zero, and
// returns 1; otherwise 0. REQUIRES: size > 0.
//
// Thread rule: any thread that holds no lock of a card.
int FindSleepingOwner(uint64_t address, char* name, uint64_t size);

// From now on, faults of the simulated card name the owner of memory that sleeps. Does nothing on a
// real card.
void NameSleepingOwnersInFaults();

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_SLEEPING_OWNERS_H_
