// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_WAITING_BLOCKS_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_WAITING_BLOCKS_H_

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "base/units.h"
#include "profiler/recorder/accounts/card_account.h"
#include "profiler/recorder/accounts/live_table.h"

namespace memtrace::recorder {

// All blocks whose free was requested but is not completed. Most frees are completed at once, so
// the latest one is kept apart, where it needs no look-up. Thread rule: one thread at a time.
class WaitingBlocks {
 public:
  using Key = std::pair<DeviceAddress, DeviceIndex>;

  void Add(const Key& key, const FreedBlock& block) {
    if (latest_) others_.insert_or_assign(latest_->first, latest_->second);
    latest_.emplace(key, block);
  }
  // Returns nothing if there is none.
  std::optional<FreedBlock> Take(const Key& key) {
    std::optional<FreedBlock> taken;
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
  std::optional<std::pair<Key, FreedBlock>> latest_;
  absl::flat_hash_map<Key, FreedBlock> others_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_WAITING_BLOCKS_H_
