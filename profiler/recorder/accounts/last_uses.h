// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_LAST_USES_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_LAST_USES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/fibonacci_hash.h"
#include "base/units.h"
#include "profiler/recorder/accounts/live_table.h"

namespace memtrace::recorder {

// When each address was last used. An address is the beginning of a block, or a place within one.
//
// A free leaves the use behind. It is older than the next block at that address, so it is never
// taken for a use of that block. KeepOnly forgets such uses. It is due when there are twice as many
// as it has left, so that a use costs about one look-up.
//
// Size: 33 bytes for each slot, in proportion to the blocks in use, and at least 4,096 of them.
// Thread rule: one thread at a time.
class LastUses {
 public:
  static constexpr size_t kFewest = 4096;

  // Uses must be noted in the order of their sequence numbers.
  void Note(DeviceAddress address, const BlockUse& use) {
    Last& last = uses_[address];
    last.sequence = use.sequence;
    last.step = use.step;
    if (use.is_captured) last.captured = use.sequence;
  }

  // Sets the last use of each block that was used since its allocation.
  void SetIn(std::vector<PlacedBlock>& blocks) const;

  bool is_full() const { return uses_.size() >= most_; }
  // Forgets the uses of memory that is in none of the blocks.
  void KeepOnly(std::vector<PlacedBlock> blocks);
  size_t size() const { return uses_.size(); }

 private:
  struct Last {
    uint64_t sequence = 0;
    uint64_t step = 0;
    uint64_t captured = 0;  // sequence number of the last use in a captured graph; 0: none
  };
  struct AddressHash {
    size_t operator()(DeviceAddress address) const { return FibonacciHash<32>(address.value()); }
  };

  absl::flat_hash_map<DeviceAddress, Last, AddressHash> uses_;
  size_t most_ = kFewest;  // before some are forgotten
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_LAST_USES_H_
