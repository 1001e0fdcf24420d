// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/block_walk.h"

#include <iterator>
#include <variant>

namespace memtrace::analysis {

void BlockWalk::Apply(const trace::Event& event) {
  ++now_.ordinal;
  now_.sequence = event.sequence;
  now_.time_ns = event.time_ns;
  now_.at.Advance(event);
  block_.reset();
  ended_.reset();
  let_go_.reset();
  std::visit([this](const auto& payload) { this->Apply(payload); }, event.payload);
  if (ended_ && !ended_->free_requested) let_go_ = ended_;
}

void BlockWalk::Apply(const trace::Allocate& allocation) {
  const WalkedBlock born{.number = blocks_++,
                         .allocation = allocation,
                         .birth = now_,
                         .before_trace = false,
                         .free_requested = std::nullopt};
  const auto [entry, is_new] = devices_[allocation.device].try_emplace(allocation.address, born);
  if (!is_new) {
    ended_ = entry->second;
    entry->second = born;
  }
  block_ = born;
}

void BlockWalk::Apply(const trace::Alive& alive) {
  Apply(alive.block);
  WalkedBlock& block = devices_[alive.block.device][alive.block.address];
  block.birth.sequence = alive.birth;
  block.birth.at = now_.at.BirthOf(alive);
  block.before_trace = true;
  if (alive.waiting != 0) block.free_requested = now_;
  block_ = block;
}

void BlockWalk::Apply(const trace::FreeRequested& free) {
  Blocks& blocks = devices_[free.device];
  const auto found = blocks.find(free.address);
  if (found == blocks.end()) return;
  if (!found->second.free_requested) let_go_ = found->second;
  found->second.free_requested = now_;
  block_ = found->second;
}

void BlockWalk::Apply(const trace::FreeCompleted& free) {
  Blocks& blocks = devices_[free.device];
  const auto found = blocks.find(free.address);
  if (found == blocks.end()) return;
  block_ = found->second;
  ended_ = found->second;
  blocks.erase(found);
}

void BlockWalk::Apply(const trace::Relabel& relabel) {
  const Blocks& blocks = devices_[relabel.device];
  const auto after = blocks.upper_bound(relabel.address);
  if (after == blocks.begin()) return;
  const WalkedBlock& home = std::prev(after)->second;
  if (relabel.address - home.allocation.address < home.allocation.requested) block_ = home;
}

void BlockWalk::ForEachLiving(const std::function<void(const WalkedBlock&)>& visit) const {
  for (const auto& [device, blocks] : devices_) {
    for (const auto& [address, block] : blocks) visit(block);
  }
}

void BlockWalk::ForEachLiving(int32_t device,
                              const std::function<void(const WalkedBlock&)>& visit) const {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  for (const auto& [address, block] : found->second) visit(block);
}

void BlockWalk::ForEachLiving(int32_t device, uint64_t begin, uint64_t end,
                              const std::function<void(const WalkedBlock&)>& visit) const {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  auto at = found->second.lower_bound(begin);
  for (; at != found->second.end() && at->first < end; ++at) visit(at->second);
}

}  // namespace memtrace::analysis
