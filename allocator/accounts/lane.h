// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_LANE_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_LANE_H_

#include "allocator/accounts/usage.h"
#include "base/spin_mutex.h"
#include "base/units.h"

namespace memtrace {

// What the groups of one stream have in common, so that streams do not stand in each other's way: a
// lock, and what they have in use.
struct Lane {
  explicit Lane(StreamId its_stream) : stream(its_stream) {}

  const StreamId stream;
  SpinMutex mutex;
  UsageShare share;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_LANE_H_
