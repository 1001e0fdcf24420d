// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_START_H_
#define MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_START_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "tools/interchange/snapshot_records.h"

namespace memtrace::interchange {

// The contents of a card before the first entry of its trace: what it holds at the end, with every
// entry undone, from the last to the first. If the last entries are missing, the end tells nothing
// of the beginning; then the contents are what the entries free and unmap but did not make. Since
// it goes backwards, its rules are the reverse of those of analysis::BlockLives.
class SnapshotStart {
 public:
  struct Mapping {
    uint64_t end = 0;
    uint64_t stream = 0;
  };

  explicit SnapshotStart(const SnapshotDevice& device);

  struct Range {
    uint64_t begin = 0;
    uint64_t end = 0;
  };

  bool is_empty() const { return blocks_.empty() && mapped_.empty(); }
  const absl::btree_map<uint64_t, SnapshotBlock>& blocks() const { return blocks_; }
  const absl::btree_map<uint64_t, Mapping>& mapped() const { return mapped_; }
  // The ranges, in order, where expandable segments have memory at any moment. Their reserved
  // addresses, which no snapshot states, are at least these.
  const std::vector<Range>& expandable() const { return expandable_; }

  // Returns the block that the allocation with this index in the trace made; null unless it exists
  // at the end.
  const SnapshotBlock* FinalBlock(size_t entry) const;

 private:
  void FindExpandable(const SnapshotDevice& device);
  void Undo(const SnapshotEntry& entry, size_t index, bool requests_are_told);
  void Unmap(uint64_t begin, uint64_t end);

  absl::btree_map<uint64_t, SnapshotBlock> blocks_;
  absl::btree_map<uint64_t, Mapping> mapped_;  // by begin; neighbours are kept apart
  absl::flat_hash_map<size_t, SnapshotBlock> final_blocks_;
  std::vector<Range> expandable_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_START_H_
