// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/live_table.h"

#include <algorithm>
#include <map>

namespace memtrace::recorder {

void LiveTable::Add(DeviceIndex device, DeviceAddress address, const LiveBlock& block) {
  blocks_.insert_or_assign(KeyOf(device, address), block);
}

std::optional<LiveBlock> LiveTable::Remove(DeviceIndex device, DeviceAddress address) {
  const auto found = blocks_.find(KeyOf(device, address));
  if (found == blocks_.end()) return std::nullopt;
  const LiveBlock block = found->second;
  blocks_.erase(found);
  return block;
}

LiveBlock* LiveTable::Find(DeviceIndex device, DeviceAddress address) {
  const auto found = blocks_.find(KeyOf(device, address));
  return found == blocks_.end() ? nullptr : &found->second;
}

const LiveBlock* LiveTable::Find(DeviceIndex device, DeviceAddress address) const {
  const auto found = blocks_.find(KeyOf(device, address));
  return found == blocks_.end() ? nullptr : &found->second;
}

bool LiveTable::Relabel(DeviceIndex device, DeviceAddress address, Bytes size,
                        const trace::Label& label) {
  const auto found = blocks_.find(KeyOf(device, address));
  if (found == blocks_.end() || size < found->second.requested) return true;
  LiveBlock& block = found->second;
  const bool is_stated = block.role != trace::Role::kUnknown;
  if (is_stated && label.role == trace::Role::kInput) return false;
  const trace::Label known{.role = block.role, .owner = block.owner, .path = block.path};
  trace::Label now = known;
  now.Restate(label);
  if (now == known) return false;
  block.role = now.role;
  block.owner = now.owner;
  block.path = now.path;
  return true;
}

std::vector<LiveTable::Group> LiveTable::LargestGroups(DeviceIndex device, size_t most) const {
  std::map<std::pair<trace::Role, trace::StringId>, Bytes> bytes;
  for (const auto& [key, block] : blocks_) {
    if (key.second != static_cast<int32_t>(device)) continue;
    bytes[{LikelyRole(block), block.owner}] += block.requested;
  }
  std::vector<Group> groups;
  groups.reserve(bytes.size());
  for (const auto& [who, sum] : bytes) {
    groups.push_back({.role = who.first, .owner = who.second, .bytes = sum});
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.bytes > b.bytes; });
  groups.resize(std::min(groups.size(), most));
  return groups;
}

trace::Role LikelyRole(const LiveBlock& block) {
  if (block.role != trace::Role::kUnknown) return block.role;
  switch (block.phase) {
    case trace::Phase::kForward:
    case trace::Phase::kRecompute:
      return trace::Role::kActivation;
    case trace::Phase::kBackward:
    case trace::Phase::kOptimizer:
      return trace::Role::kTemporary;
    default:
      return trace::Role::kUnknown;
  }
}

}  // namespace memtrace::recorder
