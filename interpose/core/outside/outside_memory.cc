// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/outside_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace memtrace {

void OutsideMemory::SetListener(OutsideListener* listener) {
  const SpinMutexLock lock(mutex_);
  if (listener_ != nullptr) ReportAll(listener_, /*taken=*/false);
  listener_ = listener;
  if (listener_ != nullptr) ReportAll(listener_, /*taken=*/true);
}

void OutsideMemory::ReportAll(OutsideListener* listener, bool taken) const {
  const auto tell = [&](const OutsideBlock& block) {
    taken ? listener->Taken(block) : listener->GivenBack(block);
  };
  for (const auto& [address, block] : blocks_) tell(block);
  for (const auto& [handle, physical] : physical_) tell(physical.block);
}

void OutsideMemory::Add(const OutsideBlock& block) {
  if (IsOnCard(block.kind) && block.device >= 0) {
    const auto device = static_cast<size_t>(block.device);
    if (device >= on_card_.size()) on_card_.resize(device + 1);
    on_card_[device] += block.bytes;
  }
  listener_->Taken(block);
}

void OutsideMemory::Drop(const OutsideBlock& block) {
  if (IsOnCard(block.kind) && block.device >= 0)
    on_card_[static_cast<size_t>(block.device)] -= block.bytes;
  listener_->GivenBack(block);
}

// The driver gives out only unused memory, so a block known at this address was freed without a
// call that we saw, such as with its context.
void OutsideMemory::Taken(const OutsideBlock& block) {
  const SpinMutexLock lock(mutex_);
  if (listener_ == nullptr) return;
  if (block.kind == trace::OutsideKind::kPhysical) {
    const auto [physical, is_new] = physical_.try_emplace(block.address);
    if (!is_new) Drop(physical->second.block);
    physical->second = Physical{.block = block};
  } else {
    const auto [known, is_new] = blocks_.try_emplace(block.address, block);
    if (!is_new) Drop(std::exchange(known->second, block));
  }
  Add(block);
}

std::optional<OutsideBlock> OutsideMemory::GivenBack(uint64_t address) {
  const SpinMutexLock lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return std::nullopt;
  const OutsideBlock block = found->second;
  blocks_.erase(found);
  Drop(block);
  return block;
}

void OutsideMemory::Mapped(uint64_t handle, DeviceAddress address, Bytes bytes) {
  const SpinMutexLock lock(mutex_);
  const auto physical = physical_.find(handle);
  if (physical == physical_.end()) return;
  if (!mappings_.try_emplace(address, Mapping{.end = address + bytes, .handle = handle}).second)
    return;
  ++physical->second.mappings;
}

// The driver unmaps only whole mappings.
void OutsideMemory::Unmapped(DeviceAddress address, Bytes bytes) {
  const SpinMutexLock lock(mutex_);
  auto mapping = mappings_.lower_bound(address);
  while (mapping != mappings_.end() && mapping->second.end <= address + bytes) {
    const auto physical = physical_.find(mapping->second.handle);
    mapping = mappings_.erase(mapping);
    if (physical == physical_.end()) continue;
    --physical->second.mappings;
    DropIfUnused(physical);
  }
}

void OutsideMemory::Retained(uint64_t handle) {
  const SpinMutexLock lock(mutex_);
  const auto physical = physical_.find(handle);
  if (physical != physical_.end()) ++physical->second.references;
}

void OutsideMemory::Released(uint64_t handle) {
  const SpinMutexLock lock(mutex_);
  const auto physical = physical_.find(handle);
  if (physical == physical_.end()) return;
  --physical->second.references;
  DropIfUnused(physical);
}

void OutsideMemory::DropIfUnused(Handles::iterator physical) {
  if (physical->second.references > 0 || physical->second.mappings > 0) return;
  Drop(physical->second.block);
  physical_.erase(physical);
}

void OutsideMemory::Reset(int device) {
  const SpinMutexLock lock(mutex_);
  for (auto block = blocks_.begin(); block != blocks_.end();) {
    const auto here = block++;
    if (here->second.device != device || !IsOnCard(here->second.kind)) continue;
    Drop(here->second);
    blocks_.erase(here);
  }
}

void OutsideMemory::Claim(DeviceAddress address, Bytes bytes) {
  const SpinMutexLock lock(mutex_);
  if (const auto block = blocks_.find(address.value()); block != blocks_.end()) {
    Drop(block->second);
    blocks_.erase(block);
  }
  for (auto mapping = mappings_.lower_bound(address);
       mapping != mappings_.end() && mapping->second.end <= address + bytes; ++mapping) {
    const auto physical = physical_.find(mapping->second.handle);
    if (physical == physical_.end()) continue;
    Drop(physical->second.block);
    physical_.erase(physical);
  }
}

Bytes OutsideMemory::on_card(int device) const {
  const SpinMutexLock lock(mutex_);
  const auto index = static_cast<size_t>(device);
  return device >= 0 && index < on_card_.size() ? on_card_[index] : 0;
}

}  // namespace memtrace
