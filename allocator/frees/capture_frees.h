// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_FREES_CAPTURE_FREES_H_
#define MEMTRACE_ALLOCATOR_FREES_CAPTURE_FREES_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "allocator/blocks/block.h"
#include "allocator/card/capture_graphs.h"
#include "base/units.h"

namespace memtrace {

// Blocks freed during a capture that other streams of it have used; tells when they may be reused
// within it. A block's uses end at the nodes where its streams were when it was freed. Once the
// block's own stream has joined the others, its next captured node comes after these uses.
//
//   main   a ─────────────> b ──> c      freed after b and s: its uses end at {b, s}
//           └──> s (side)  ──────┘       from c on both are before main's end
//
// Thread rule: none, guarded by the owner's lock.
class CaptureFrees {
 public:
  // `graphs` must outlive this; if it is null, nothing is known about captures.
  explicit CaptureFrees(CaptureGraphs* graphs) : graphs_(graphs) {}

  void SetEnabled(bool enabled) { is_enabled_ = enabled; }
  bool enabled() const { return is_enabled_ && graphs_ != nullptr; }

  // Excludes a block that another stream has used outside captures: only an event can order that
  // use.
  void Exclude(const Block* block) { excluded_.insert(block); }

  // Adds a freed block. It is dropped at once unless all its streams are captured into one graph.
  void Add(Block* block);

  // Returns and forgets the blocks of `stream` whose uses all come before its next captured node.
  // Clear() forgets all blocks.
  std::vector<Block*> TakeOrdered(StreamId stream);
  void Clear();

 private:
  struct Entry {
    Block* block = nullptr;
    CaptureId capture{};
    std::vector<GraphNode> last_uses;
  };
  // All nodes that come before a stream's next node. It grows as the stream moves on.
  struct Past {
    std::vector<GraphNode> ends;
    absl::flat_hash_set<GraphNode> nodes;
  };

  bool AddLastUses(StreamId stream, Entry& entry);
  absl::Status Advance(Past& past, const std::vector<GraphNode>& ends);
  absl::Status Extend(Past& past, const std::vector<GraphNode>& ends,
                      absl::flat_hash_set<GraphNode>& met);

  CaptureGraphs* const graphs_;
  bool is_enabled_ = false;
  std::vector<Entry> entries_;
  absl::flat_hash_set<const Block*> excluded_;
  absl::flat_hash_map<std::pair<CaptureId, StreamId>, Past> pasts_;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_FREES_CAPTURE_FREES_H_
