// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_ACCOUNTS_ACCOUNTING_H_
#define MEMTRACE_ALLOCATOR_ACCOUNTS_ACCOUNTING_H_

#include "absl/base/attributes.h"
#include "allocator/accounts/allocation_observer.h"
#include "allocator/accounts/attempt_account.h"
#include "allocator/accounts/block_account.h"
#include "allocator/accounts/host_account.h"
#include "allocator/accounts/mapping_account.h"
#include "allocator/accounts/statistics.h"
#include "base/units.h"

namespace memtrace {

// The accounts of one card, and torch's statistics, which combine all of them. The keys have
// torch's meaning: `allocation` and `allocated_bytes` fall when a free is requested, `active`,
// `active_bytes` and `requested_bytes` when it completes; `num_device_alloc` counts growths and
// `num_device_free` unmapped ranges; `inactive_split` stays 0, as it does in torch for expandable
// segments. `segment` counts maximal mapped ranges (the ones Snapshot() lists); torch leaves it at
// 0.
//
// Errors: none. Thread rule: guarded by the card's lock and those of all streams, with the
// exceptions that BlockAccount documents.
class Accounting {
 public:
  // `observer` must outlive this.
  Accounting(DeviceIndex device, AllocationObserver& observer ABSL_ATTRIBUTE_LIFETIME_BOUND)
      : blocks_(device, observer), mapping_(device, observer), attempts_(observer) {}

  BlockAccount& blocks() { return blocks_; }
  const BlockAccount& blocks() const { return blocks_; }
  MappingAccount& mapping() { return mapping_; }
  const MappingAccount& mapping() const { return mapping_; }
  AttemptAccount& attempts() { return attempts_; }
  HostAccount& host() { return host_; }
  const HostAccount& host() const { return host_; }

  Statistics statistics() const;
  void ResetPeak();
  void ResetAccumulated();

 private:
  BlockAccount blocks_;
  MappingAccount mapping_;
  AttemptAccount attempts_;
  HostAccount host_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_ACCOUNTS_ACCOUNTING_H_
