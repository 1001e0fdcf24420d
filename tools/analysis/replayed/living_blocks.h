// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVING_BLOCKS_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVING_BLOCKS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"

namespace memtrace::analysis {

using BlockId = uint32_t;

// The blocks that are alive on one card, by the address where each begins. Every event asks for one
// by its address, and few ask for an order: so there is a hash table, and the order is brought up
// to date only when it is asked for. An operation costs O(log n) at most, over many.
class LivingBlocks {
 public:
  std::optional<BlockId> At(uint64_t address) const;
  // The one that begins at `address`, or nearest below it.
  std::optional<BlockId> AtOrBelow(uint64_t address);
  std::vector<BlockId> InOrder() const;
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [address, id] : by_address_) visit(id);
  }

  // REQUIRES: none begins there.
  void Insert(uint64_t address, BlockId id);
  void Erase(uint64_t address) { by_address_.erase(address); }

 private:
  void BringOrderUpToDate();

  absl::flat_hash_map<uint64_t, BlockId> by_address_;
  // Together all addresses of by_address_, and others that have died since.
  absl::btree_set<uint64_t> ordered_;
  std::vector<uint64_t> unordered_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAYED_LIVING_BLOCKS_H_
