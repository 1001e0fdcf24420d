// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/block_uses.h"

#include <utility>

namespace memtrace::recorder {

void BlockUses::Follow() {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    if (uses_ == nullptr) uses_ = std::make_unique<LastUses>();
  });
}

void BlockUses::Note(std::span<const uint64_t> addresses) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    if (uses_ == nullptr) return;
    const BlockUse use{.sequence = log_.sequence(),
                       .step = log_.run().position().step,
                       .is_captured = captures_.load(std::memory_order_relaxed) > 0};
    for (const uint64_t address : addresses) uses_->Note(DeviceAddress{address}, use);
    if (uses_->is_full()) ForgetFreed();
  });
}

std::optional<uint64_t> BlockUses::SetIn(std::vector<PlacedBlock>& blocks) const {
  std::optional<uint64_t> step;
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    if (uses_ == nullptr) return;
    uses_->SetIn(blocks);
    step = log_.run().position().step;
  });
  return step;
}

void BlockUses::ForgetFreed() {
  std::vector<PlacedBlock> blocks;
  blocks.reserve(log_.live().size());
  log_.live().ForEach([&](const LiveTable::Key& key, const LiveBlock& block) {
    blocks.push_back({key.first, block});
  });
  uses_->KeepOnly(std::move(blocks));
}

}  // namespace memtrace::recorder
