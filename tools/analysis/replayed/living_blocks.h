// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVING_BLOCKS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVING_BLOCKS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"

namespace memtrace::analysis {

// The blocks that are alive on one card, by the address where each begins. Every event asks for one
// by its address, and few need an order. So the blocks are in a hash table, the order is kept only
// from the first call on that needs it, and it is brought up to date only when it is needed. An
// operation costs O(log n) at most, amortized.
//
// A block must not be added or removed while another is visited. Thread rule: one thread at a time.
template <typename Block>
class LivingBlocks {
 public:
  struct Entry {
    uint64_t address = 0;
    Block* block = nullptr;
  };

  // Returns the block that begins at `address`; null if there is none.
  Block* At(uint64_t address) {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? nullptr : &found->second;
  }
  const Block* At(uint64_t address) const {
    const auto found = by_address_.find(address);
    return found == by_address_.end() ? nullptr : &found->second;
  }
  // Returns the block that begins at `address` or nearest below it; null if there is none.
  Entry AtOrBelow(uint64_t address);

  // Returns the block that begins at `address`, and true if it is a new one.
  std::pair<Block*, bool> TryAdd(uint64_t address) {
    const auto [entry, is_new] = by_address_.try_emplace(address);
    if (is_new && keeps_order_) AddToOrder(address);
    return {&entry->second, is_new};
  }
  // Passes the block that begins at `address` to `last`, and removes it. False if there is none.
  template <typename Visit>
  bool Remove(uint64_t address, const Visit& last) {
    const auto found = by_address_.find(address);
    if (found == by_address_.end()) return false;
    last(found->second);
    by_address_.erase(found);
    return true;
  }

  // Visits all blocks, in no order.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [address, block] : by_address_) visit(block);
  }
  // Visits all blocks, in order of address.
  template <typename Visit>
  void ForEachInOrder(const Visit& visit) const;
  // Visits the blocks that begin in [begin, end), in order.
  template <typename Visit>
  void ForEachFrom(uint64_t begin, uint64_t end, const Visit& visit);

  size_t size() const { return by_address_.size(); }

 private:
  // If there are more addresses than this, most are of dead blocks, and it is cheaper to begin
  // again.
  size_t MostKept() const { return 2 * by_address_.size() + 64; }
  void AddToOrder(uint64_t address);
  void UpdateOrder();

  absl::flat_hash_map<uint64_t, Block> by_address_;
  // These two together hold all addresses of by_address_, and others that have died since.
  absl::btree_set<uint64_t> ordered_;
  std::vector<uint64_t> unordered_;
  bool keeps_order_ = false;
};

template <typename Block>
void LivingBlocks<Block>::AddToOrder(uint64_t address) {
  unordered_.push_back(address);
  if (unordered_.size() <= MostKept()) return;
  ordered_.clear();
  unordered_.clear();
  for (const auto& [living, ignored] : by_address_) unordered_.push_back(living);
}

template <typename Block>
void LivingBlocks<Block>::UpdateOrder() {
  ordered_.insert(unordered_.begin(), unordered_.end());
  unordered_.clear();
  if (keeps_order_ && ordered_.size() <= MostKept()) return;
  keeps_order_ = true;
  ordered_.clear();
  for (const auto& [living, ignored] : by_address_) ordered_.insert(living);
}

template <typename Block>
typename LivingBlocks<Block>::Entry LivingBlocks<Block>::AtOrBelow(uint64_t address) {
  UpdateOrder();
  auto after = ordered_.upper_bound(address);
  while (after != ordered_.begin()) {
    const auto nearest = std::prev(after);
    if (Block* block = At(*nearest)) return {*nearest, block};
    after = ordered_.erase(nearest);
  }
  return {};
}

template <typename Block>
template <typename Visit>
void LivingBlocks<Block>::ForEachInOrder(const Visit& visit) const {
  std::vector<std::pair<uint64_t, const Block*>> blocks;
  blocks.reserve(by_address_.size());
  for (const auto& [address, block] : by_address_) blocks.emplace_back(address, &block);
  std::sort(blocks.begin(), blocks.end());
  for (const auto& [address, block] : blocks) visit(*block);
}

template <typename Block>
template <typename Visit>
void LivingBlocks<Block>::ForEachFrom(uint64_t begin, uint64_t end, const Visit& visit) {
  UpdateOrder();
  for (auto at = ordered_.lower_bound(begin); at != ordered_.end() && *at < end; ++at)
    if (const Block* block = At(*at)) visit(*block);
}

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVING_BLOCKS_H_
