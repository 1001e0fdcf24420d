// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_HOST_ACCOUNT_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_HOST_ACCOUNT_H_

#include "base/units.h"

namespace memtrace {

// Counts the host's memory for the contents of a card's sleeping memory, in bytes. HostCopies keeps
// it.
//
// Thread rule: guarded by the card's lock.
struct HostAccount {
  Bytes copies = 0;  // of memory that sleeps
  Bytes pooled = 0;  // kept for the next sleep
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_HOST_ACCOUNT_H_
