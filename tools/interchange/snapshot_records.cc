// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/snapshot_records.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace memtrace::interchange {
namespace {

// Devices are counted from 0; a file that names the millionth is not believed.
constexpr size_t kMostDevices = 1024;

// Cards have addresses of up to 57 bits. Those of some makers begin high, so only the size of what
// lies there is bounded.
constexpr uint64_t kLargestRange = uint64_t{1} << 57;

using PoolId = std::pair<int64_t, int64_t>;

struct NamedAction {
  std::string_view name;
  SnapshotAction action;
  bool is_expandable = false;
};
constexpr std::array<NamedAction, 8> kActions = {{
    {"alloc", SnapshotAction::kAllocate},
    {"free_requested", SnapshotAction::kFreeRequested},
    {"free_completed", SnapshotAction::kFreeCompleted},
    {"segment_alloc", SnapshotAction::kMap},
    {"segment_map", SnapshotAction::kMap, true},
    {"segment_free", SnapshotAction::kUnmap},
    {"segment_unmap", SnapshotAction::kUnmap, true},
    {"oom", SnapshotAction::kOutOfMemory},
}};

class RecordReader {
 public:
  RecordReader(const PickleTree& tree, const PickleCut& cut) : tree_(tree), cut_(cut) {}

  absl::StatusOr<SnapshotRecords> Read();

 private:
  void ReadSegment(PickleValue value);
  void ReadBlock(PickleValue value, SnapshotSegment& segment, uint64_t& next_address);
  std::optional<SnapshotEntry> ReadEntry(PickleValue value) const;
  void ReadTraces(PickleValue traces);
  void NumberPools(PickleValue segments);

  // Notes the first range that no card can have.
  void CheckRange(std::string_view what, size_t device, uint64_t address, uint64_t size);

  uint64_t Bytes(PickleValue value) const {
    return static_cast<uint64_t>(std::max<int64_t>(tree_.Int(value).value_or(0), 0));
  }
  // Reads an address or a handle, which may have all 64 bits.
  uint64_t Handle(PickleValue value) const {
    return static_cast<uint64_t>(tree_.Int(value).value_or(0));
  }
  PoolId Pool(PickleValue value) const;
  SnapshotDevice& Device(size_t index);

  const PickleTree& tree_;
  const PickleCut& cut_;
  SnapshotRecords records_;
  std::map<PoolId, uint32_t> pools_;  // the number of each
  std::string impossible_;            // a clause
};

absl::StatusOr<SnapshotRecords> RecordReader::Read() {
  const bool is_list = tree_.root().is_sequence();
  const PickleValue segments = is_list ? tree_.root() : tree_.Find(tree_.root(), "segments");
  const PickleValue traces = tree_.Find(tree_.root(), "device_traces");
  if (!segments.is_sequence() && !traces.is_sequence())
    return absl::InvalidArgumentError("it has neither segments nor device_traces");
  NumberPools(segments);
  tree_.ForEach(segments, [this](PickleValue value) { ReadSegment(value); });
  if (is_list && tree_.Size(segments) > 0 && records_.devices.empty())
    return absl::InvalidArgumentError("its entries are not segments");
  ReadTraces(traces);
  if (!impossible_.empty()) return absl::InvalidArgumentError(impossible_);
  const PickleValue settings = tree_.Find(tree_.root(), "allocator_settings");
  records_.settings = tree_.Text(tree_.Find(settings, "PYTORCH_CUDA_ALLOC_CONF")).value_or("");
  return std::move(records_);
}

PoolId RecordReader::Pool(PickleValue value) const {
  PoolId id(0, tree_.Int(value).value_or(0));
  size_t at = 0;
  tree_.ForEach(value, [&](PickleValue part) {
    (at++ == 0 ? id.first : id.second) = tree_.Int(part).value_or(0);
  });
  return id;
}

void RecordReader::ReadSegment(PickleValue value) {
  const PickleValue blocks = tree_.Find(value, "blocks");
  if (!blocks.is_sequence()) return;
  SnapshotSegment segment;
  const uint64_t device = Handle(tree_.Find(value, "device"));
  if (device >= kMostDevices) return;
  segment.address = Handle(tree_.Find(value, "address"));
  segment.size = Bytes(tree_.Find(value, "total_size"));
  segment.stream = Handle(tree_.Find(value, "stream"));
  segment.is_expandable = tree_.Int(tree_.Find(value, "is_expandable")).value_or(0) != 0;
  segment.allocated = Bytes(tree_.Find(value, "allocated_size"));
  segment.pool = pools_[Pool(tree_.Find(value, "segment_pool_id"))];
  CheckRange("a segment", device, segment.address, segment.size);
  uint64_t next_address = segment.address;
  tree_.ForEach(blocks, [&](PickleValue block) { ReadBlock(block, segment, next_address); });
  for (const SnapshotBlock& block : segment.blocks)
    CheckRange("a block", device, block.address, block.size);
  Device(device).segments.push_back(std::move(segment));
}

SnapshotDevice& RecordReader::Device(size_t index) {
  if (records_.devices.size() <= index) records_.devices.resize(index + 1);
  return records_.devices[index];
}

// torch 2.0 wrote no addresses of blocks, because they lie side by side, and their frames in a
// history.
void RecordReader::ReadBlock(PickleValue value, SnapshotSegment& segment, uint64_t& next_address) {
  SnapshotBlock block;
  std::string_view state;
  PickleValue history;
  block.address = next_address;
  tree_.ForEachPair(value, [&](std::string_view key, PickleValue of) {
    if (key == "address") block.address = Handle(of);
    if (key == "size") block.size = Bytes(of);
    if (key == "requested_size") block.requested = Bytes(of);
    if (key == "state") state = tree_.Text(of).value_or("");
    if (key == "frames") block.frames = of;
    if (key == "history") history = of;
  });
  next_address = block.address + block.size;
  tree_.ForEach(history, [&](PickleValue latest) { block.frames = tree_.Find(latest, "frames"); });
  block.stream = segment.stream;
  block.pool = segment.pool;
  block.waiting = state == "active_pending_free" || state == "active_awaiting_free";
  if (block.requested == 0) block.requested = block.size;
  if (block.waiting || state == "active_allocated") segment.blocks.push_back(block);
}

void RecordReader::NumberPools(PickleValue segments) {
  tree_.ForEach(segments, [this](PickleValue value) {
    pools_.emplace(Pool(tree_.Find(value, "segment_pool_id")), 0);
  });
  uint32_t next = 1;
  for (auto& [id, number] : pools_) {
    if (id != PoolId(0, 0)) number = next++;
  }
}

void RecordReader::ReadTraces(PickleValue traces) {
  size_t index = 0;
  tree_.ForEach(traces, [&](PickleValue trace) {
    if (index >= kMostDevices) return;
    SnapshotDevice& device = Device(index++);
    device.has_entries = tree_.Size(trace) > 0;
    device.trace_is_cut =
        std::find(cut_.unfinished.begin(), cut_.unfinished.end(), trace) != cut_.unfinished.end();
    device.trace.reserve(tree_.Size(trace));
    tree_.ForEach(trace, [&](PickleValue value) {
      const auto entry = ReadEntry(value);
      if (!entry) return;
      if (entry->action != SnapshotAction::kOutOfMemory)
        CheckRange("an entry of device_traces", index - 1, entry->address, entry->size);
      device.trace.push_back(*entry);
    });
  });
}

void RecordReader::CheckRange(std::string_view what, size_t device, uint64_t address,
                              uint64_t size) {
  const bool ends_behind_all_addresses = size > ~uint64_t{0} - address;
  if (!impossible_.empty() || (!ends_behind_all_addresses && size <= kLargestRange)) return;
  impossible_ =
      absl::StrCat(std::string(what), " of device ", device, " has ", size, " bytes at address 0x",
                   absl::Hex(address), ", which no card can have");
}

// Returns nothing for an entry that says nothing about memory: "snapshot", "annotate" and later
// ones.
std::optional<SnapshotEntry> RecordReader::ReadEntry(PickleValue value) const {
  SnapshotEntry entry;
  std::optional<uint64_t> free;
  bool is_known = false;
  tree_.ForEachPair(value, [&](std::string_view key, PickleValue of) {
    if (key == "action") {
      const std::string_view name = tree_.Text(of).value_or("");
      const auto* const action =
          std::find_if(kActions.begin(), kActions.end(),
                       [name](const NamedAction& known) { return known.name == name; });
      is_known = action != kActions.end();
      if (!is_known) return;
      entry.action = action->action;
      entry.is_expandable = action->is_expandable;
    } else if (key == "addr") {
      entry.address = Handle(of);
    } else if (key == "device_free") {
      free = Handle(of);
    } else if (key == "size") {
      entry.size = Bytes(of);
    } else if (key == "stream") {
      entry.stream = Handle(of);
    } else if (key == "time_us") {
      entry.time_us = Bytes(of);
    } else if (key == "frames") {
      entry.frames = of;
    }
  });
  if (!is_known) return std::nullopt;
  if (free && entry.action == SnapshotAction::kOutOfMemory) entry.address = *free;
  return entry;
}

}  // namespace

absl::StatusOr<SnapshotRecords> ReadSnapshotRecords(const PickleTree& tree, const PickleCut& cut) {
  return RecordReader(tree, cut).Read();
}

}  // namespace memtrace::interchange
