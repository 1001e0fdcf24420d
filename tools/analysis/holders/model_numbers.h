// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_NUMBERS_H_
#define MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_NUMBERS_H_

#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/replayed/live_set.h"

namespace memtrace::analysis {

// Tells apart models whose parameters have the same owner and the same paths: of the blocks in use
// with a parameter or buffer of one owner, path and size, the oldest belongs to model 0, the next
// to model 1. More than a few such blocks are not models but parts that are called by themselves.
class ModelNumbers {
 public:
  ModelNumbers(const std::vector<CapturedBlock>& captured, const LiveSet& live);

  // Returns 0 for a block that holds no such part.
  uint32_t Of(BlockId id) const {
    const auto known = later_.find(id);
    return known == later_.end() ? 0 : known->second;
  }

 private:
  struct Stated {
    trace::StringId owner = 0;
    trace::StringId path = 0;
    uint64_t bytes = 0;
    uint64_t sequence = 0;  // of its block
    BlockId block = 0;

    auto Order() const { return std::tie(owner, path, bytes, sequence, block); }
    bool IsNamedAs(const Stated& other) const {
      return owner == other.owner && path == other.path && bytes == other.bytes;
    }
  };
  // Numbers the parts of one owner, path and size, given oldest first.
  void Number(std::vector<Stated> same);

  absl::flat_hash_map<BlockId, uint32_t> later_;  // those above 0
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_HOLDERS_MODEL_NUMBERS_H_
