// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_LANE_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_LANE_H_

#include "allocator/accounts/usage.h"
#include "base/spin_mutex.h"
#include "base/units.h"

namespace memtrace {

// The state that all groups of one stream share: a lock, and the counts of its blocks in use. Each
// stream has its own, so that streams do not wait for each other.
struct Lane {
  explicit Lane(StreamId its_stream) : stream(its_stream) {}

  const StreamId stream;
  SpinMutex mutex;
  UsageShare share;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_LANE_H_
