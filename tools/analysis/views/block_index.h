// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VIEWS_BLOCK_INDEX_H_
#define MEMTRACE_TOOLS_ANALYSIS_VIEWS_BLOCK_INDEX_H_

#include <compare>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/trace/events/event.h"
#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/replayed/live_set.h"

namespace memtrace::analysis {

// The identity that every block of a trace turned out to have. Roles are often stated, and always
// inferred, long after the allocation, so a streaming writer has to read the trace once before it
// writes.
//
// Blocks are numbered from 0 in the order of Allocate and Alive events. Takes 4 bytes a block, and
// about 40 for each part of a block whose parts differ (flat buffers).
class BlockIndex : private BlockListener {
 public:
  // `best`: EventSource::best_evidence.
  explicit BlockIndex(Evidence best) : best_(best) {}

  // To read, pass every event in order to Apply, then call Finish.
  void Apply(const trace::Event& event);
  void Finish();

  // Returns the parts by address; they cover the requested bytes. REQUIRES: Finish was called.
  std::vector<Part> Parts(uint64_t number, uint64_t requested) const;
  // Returns the identity of most of the block's bytes.
  const Identity& Main(uint64_t number) const;

  uint64_t blocks() const { return identities_.size(); }

 private:
  static constexpr uint32_t kMixed = 1U << 31U;  // in identities_: the rest is an index of mixed_

  struct Mixed {
    Identity main;
    std::vector<Part> parts;
  };

  void Began(BlockId id) override;
  void Ends(BlockId id) override { End(id, /*freed=*/true); }
  void End(BlockId id, bool freed);
  uint32_t Intern(const Identity& identity);

  Evidence best_;
  LiveSet live_;
  std::set<int32_t> devices_;
  std::vector<uint64_t> number_of_;   // by BlockId
  std::vector<uint32_t> identities_;  // by number: an index of table_, or kMixed and one of mixed_
  std::vector<Identity> table_;
  absl::flat_hash_map<Identity, uint32_t> by_identity_;
  std::vector<Mixed> mixed_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VIEWS_BLOCK_INDEX_H_
