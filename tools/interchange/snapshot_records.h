// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_RECORDS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_RECORDS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/interchange/pickle_prefix.h"
#include "tools/interchange/pickle_tree.h"

namespace memtrace::interchange {

enum class SnapshotAction : uint8_t {
  kAllocate,
  kFreeRequested,
  kFreeCompleted,
  kMap,    // segment_alloc and segment_map
  kUnmap,  // segment_free and segment_unmap
  kOutOfMemory,
};

// An entry of device_traces. Bytes; the `address` of an out-of-memory entry is what the driver had
// free.
struct SnapshotEntry {
  SnapshotAction action = SnapshotAction::kAllocate;
  bool is_expandable = false;  // kMap, kUnmap: a part of an expandable segment
  uint64_t address = 0;
  uint64_t size = 0;  // as requested, of blocks
  uint64_t stream = 0;
  uint64_t time_us = 0;  // since 1970; 0 in snapshots before torch 2.2
  PickleValue frames;
};

// A block that is in use when the snapshot is taken.
struct SnapshotBlock {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t requested = 0;
  uint64_t stream = 0;
  uint32_t pool = 0;
  bool waiting = false;  // its free was requested
  PickleValue frames;
};

struct SnapshotSegment {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
  uint32_t pool = 0;  // 0 is the default pool; the others in the order of their ids
  bool is_expandable = false;
  uint64_t allocated = 0;  // as the snapshot itself sums it up
  std::vector<SnapshotBlock> blocks;
};

// The contents of a snapshot for one card.
struct SnapshotDevice {
  std::vector<SnapshotSegment> segments;
  std::vector<SnapshotEntry> trace;  // the entries that tell of memory
  bool has_entries = false;          // of any kind
  bool trace_is_cut = false;         // more entries may have followed
};

// A memory snapshot of torch 2.0 to 2.15, or the bare list of segments that
// torch.cuda.memory_snapshot() gives, in one form.
struct SnapshotRecords {
  std::vector<SnapshotDevice> devices;  // by their index
  std::string settings;                 // PYTORCH_CUDA_ALLOC_CONF
};

// `cut`: where the pickle of the tree ended. Returns kInvalidArgument, with a clause that says what
// is missing.
absl::StatusOr<SnapshotRecords> ReadSnapshotRecords(const PickleTree& tree, const PickleCut& cut);

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_SNAPSHOT_RECORDS_H_
