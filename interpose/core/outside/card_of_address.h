// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_CARD_OF_ADDRESS_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_CARD_OF_ADDRESS_H_

#include <vector>

#include "absl/base/thread_annotations.h"
#include "base/spin_mutex.h"
#include "base/units.h"

namespace memtrace {

// Finds the card that a block is on, for frees, which give only an address. It is not needed on a
// machine with one card.
//
// Thread rule: any thread.
class CardOfAddress {
 public:
  // From now on, [address, address + size) is a segment of the card; ranges that it overlaps are
  // removed.
  void Add(DeviceAddress address, Bytes size, int device);

  // Returns -1 if the address is in no segment.
  int Find(DeviceAddress address) const;

 private:
  struct Range {
    AddressRange addresses;
    int device = 0;
  };

  mutable SpinMutex mutex_;
  std::vector<Range> ranges_ ABSL_GUARDED_BY(mutex_);  // by address
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_CARD_OF_ADDRESS_H_
