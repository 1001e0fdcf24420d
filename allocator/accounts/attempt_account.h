// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_ATTEMPT_ACCOUNT_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_ATTEMPT_ACCOUNT_H_

#include <cstdint>

#include "absl/base/attributes.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/accounts/statistics.h"

namespace memtrace {

// Counts the extra work for requests that did not fit at once (retries and waits for all streams)
// and the requests that failed in the end, which it also reports to the observer.
//
// Errors: none. Thread rule: guarded by the card's lock.
class AttemptAccount {
 public:
  // The counts at one moment. Returning to them forgets the attempts of a failed request that will
  // be repeated, so that it counts once.
  struct Mark {
    int64_t retries = 0;
    int64_t waits = 0;
  };

  // `observer` must outlive this.
  explicit AttemptAccount(AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : observer_(observer) {}

  void CountRetry() { ++now_.retries; }
  void CountWaitForAllStreams() { ++now_.waits; }
  void OutOfMemory(const OutOfMemoryEvent& event) {
    ++failures_;
    observer_.OutOfMemory(event);
  }

  Mark mark() const { return now_; }
  void ForgetSince(const Mark& since) { now_ = since; }

  // Sets the fields of `all` that count attempts.
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
