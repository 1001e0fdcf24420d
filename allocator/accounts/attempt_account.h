// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_ATTEMPT_ACCOUNT_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_ATTEMPT_ACCOUNT_H_

#include <cstdint>

#include "absl/base/attributes.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/accounts/statistics.h"

namespace memtrace {

// Counts what it took to serve requests that did not fit at once: retries, waits for all streams,
// and the requests that failed in the end, of which it tells the observer.
//
// Errors: none. Thread rule: the card's lock guards it.
class AttemptAccount {
 public:
  // A request that fails and will be repeated counts once: its attempts are forgotten by these.
  struct Mark {
    int64_t retries = 0;
    int64_t waits = 0;
  };

  // `observer` must outlive this.
  explicit AttemptAccount(AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : observer_(observer) {}

  void Retried() { ++now_.retries; }
  void WaitedForAllStreams() { ++now_.waits; }
  void OutOfMemory(const OutOfMemoryEvent& event) {
    ++failures_;
    observer_.OutOfMemory(event);
  }

  Mark mark() const { return now_; }
  void ForgetSince(const Mark& since) { now_ = since; }

  // Sets the figures of `all` that count attempts.
  void PutInto(Statistics& all) const {
    all.num_alloc_retries = now_.retries;
    all.num_sync_all_streams = now_.waits;
    all.num_ooms = failures_;
  }
  void ResetAccumulated() {
    now_ = {};
    failures_ = 0;
  }

 private:
  AllocationObserver& observer_;
  Mark now_;
  int64_t failures_ = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_ATTEMPT_ACCOUNT_H_
