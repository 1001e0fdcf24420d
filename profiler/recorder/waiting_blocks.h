// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_WAITING_BLOCKS_H_
#define MEMTRACE_PROFILER_RECORDER_WAITING_BLOCKS_H_

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "allocator/units.h"
#include "profiler/recorder/card_account.h"
#include "profiler/recorder/live_table.h"

namespace memtrace::recorder {

// A block whose free was requested and is not completed.
struct WaitingBlock {
  LiveBlock block;
  ProgramPosition at_request;
};

// All of them. Most frees are completed at once: the latest one has a place of its own, which costs
// no look-up. Thread rule: one thread at a time.
class WaitingBlocks {
 public:
  using Key = std::pair<DeviceAddress, DeviceIndex>;

  void Add(const Key& key, const WaitingBlock& block) {
    if (latest_) others_.insert_or_assign(latest_->first, latest_->second);
    latest_.emplace(key, block);
  }
  // Nothing if there is none.
  std::optional<WaitingBlock> Take(const Key& key) {
    std::optional<WaitingBlock> taken;
    if (latest_ && latest_->first == key) {
      taken = latest_->second;
      latest_.reset();
    } else if (!others_.empty()) {
      if (const auto found = others_.find(key); found != others_.end()) {
        taken = found->second;
        others_.erase(found);
      }
    }
    return taken;
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    if (latest_) visit(latest_->first, latest_->second);
    for (const auto& [key, block] : others_) visit(key, block);
  }

 private:
  std::optional<std::pair<Key, WaitingBlock>> latest_;
  absl::flat_hash_map<Key, WaitingBlock> others_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_WAITING_BLOCKS_H_
