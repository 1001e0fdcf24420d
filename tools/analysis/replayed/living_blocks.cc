// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/living_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace memtrace::analysis {
namespace {

// More addresses than this are mostly of the dead, and it is cheaper to begin again.
size_t MostKept(size_t living) { return 2 * living + 64; }

}  // namespace

std::optional<BlockId> LivingBlocks::At(uint64_t address) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return std::nullopt;
  return found->second;
}

void LivingBlocks::Insert(uint64_t address, BlockId id) {
  by_address_.emplace(address, id);
  unordered_.push_back(address);
  if (unordered_.size() <= MostKept(by_address_.size())) return;
  ordered_.clear();
  unordered_.clear();
  for (const auto& [living, ignored] : by_address_) unordered_.push_back(living);
}

void LivingBlocks::BringOrderUpToDate() {
  ordered_.insert(unordered_.begin(), unordered_.end());
  unordered_.clear();
  if (ordered_.size() <= MostKept(by_address_.size())) return;
  ordered_.clear();
  for (const auto& [living, ignored] : by_address_) ordered_.insert(living);
}

std::optional<BlockId> LivingBlocks::AtOrBelow(uint64_t address) {
  BringOrderUpToDate();
  auto after = ordered_.upper_bound(address);
  while (after != ordered_.begin()) {
    const auto nearest = std::prev(after);
    if (const auto id = At(*nearest)) return id;
    after = ordered_.erase(nearest);
  }
  return std::nullopt;
}

std::vector<BlockId> LivingBlocks::InOrder() const {
  std::vector<std::pair<uint64_t, BlockId>> blocks(by_address_.begin(), by_address_.end());
  std::sort(blocks.begin(), blocks.end());
  std::vector<BlockId> ids;
  ids.reserve(blocks.size());
  for (const auto& [address, id] : blocks) ids.push_back(id);
  return ids;
}

}  // namespace memtrace::analysis
