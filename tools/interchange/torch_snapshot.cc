// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/torch_snapshot.h"

#include <algorithm>
#include <utility>

#include "tools/interchange/pickle_reader.h"

namespace memtrace::interchange {
namespace {

// torch rounds every request up to this, unless it is told to round further; only the blocks of the
// end say what they really got.
constexpr uint64_t kRounding = 512;

uint64_t Rounded(uint64_t bytes) { return (bytes + kRounding - 1) / kRounding * kRounding; }

// A frame list that events share is one object of the pickle.
trace::StackId StackOf(PickleValue frames) {
  return PickleTree::IsSequence(frames) ? static_cast<trace::StackId>(frames.payload()) + 1 : 0;
}

trace::Allocate AllocationOf(const SnapshotBlock& block, int32_t device) {
  return {.device = device,
          .address = block.address,
          .requested = block.requested,
          .allocated = block.size != 0 ? block.size : Rounded(block.requested),
          .stream = block.stream,
          .pool = block.pool,
          .stack = StackOf(block.frames)};
}

}  // namespace

// One pass over all events.
class TorchSnapshot::Visit {
 public:
  Visit(const TorchSnapshot& snapshot, const std::function<void(const trace::Event&)>& visit)
      : snapshot_(snapshot), visit_(visit), next_(snapshot.devices()) {}

  void Run();

 private:
  void VisitStart(int32_t device);
  void VisitEntry(int32_t device, const SnapshotEntry& entry, size_t index);
  void VisitFailure(int32_t device, const SnapshotEntry& entry);
  // The device whose next entry is the earliest; that without times comes as it stands.
  bool NextDevice(size_t& device) const;
  const SnapshotEntry* Next(size_t device) const;
  void Tell(trace::Payload payload) {
    event_.sequence = ++sequence_;
    event_.payload = std::move(payload);
    visit_(event_);
  }

  const TorchSnapshot& snapshot_;
  const std::function<void(const trace::Event&)>& visit_;
  std::vector<size_t> next_;
  std::vector<uint64_t> mapped_;
  trace::Event event_;
  uint64_t sequence_ = 0;
};

const SnapshotEntry* TorchSnapshot::Visit::Next(size_t device) const {
  if (device >= snapshot_.records_.traces.size()) return nullptr;
  const std::vector<SnapshotEntry>& trace = snapshot_.records_.traces[device];
  return next_[device] < trace.size() ? &trace[next_[device]] : nullptr;
}

bool TorchSnapshot::Visit::NextDevice(size_t& device) const {
  const SnapshotEntry* earliest = nullptr;
  for (size_t i = 0; i < next_.size(); ++i) {
    const SnapshotEntry* next = Next(i);
    if (next == nullptr || (earliest != nullptr && earliest->time_us <= next->time_us)) continue;
    earliest = next;
    device = i;
  }
  return earliest != nullptr;
}

void TorchSnapshot::Visit::Run() {
  mapped_.resize(next_.size());
  const auto& starts = snapshot_.starts_;
  if (std::any_of(starts.begin(), starts.end(),
                  [](const SnapshotStart& start) { return !start.is_empty(); }))
    Tell(trace::Resume{});
  for (size_t device = 0; device < starts.size(); ++device)
    VisitStart(static_cast<int32_t>(device));
  size_t device = 0;
  while (NextDevice(device)) {
    const size_t index = next_[device]++;
    VisitEntry(static_cast<int32_t>(device), snapshot_.records_.traces[device][index], index);
  }
  for (trace::StringId id = 1; id + 1 < snapshot_.strings_.size(); id += 2)
    Tell(trace::Annotate{id, id + 1});
}

void TorchSnapshot::Visit::VisitStart(int32_t device) {
  const auto place = static_cast<size_t>(device);
  const SnapshotStart& start = snapshot_.starts_[place];
  const auto& has_entries = snapshot_.records_.has_entries;
  // A card that torch wrote something of is one of the snapshot's, however empty.
  if (place < has_entries.size() && has_entries[place]) Tell(trace::Map{.device = device});
  for (const auto& [begin, mapping] : start.mapped()) {
    mapped_[place] += mapping.end - begin;
    Tell(trace::Map{device, begin, mapping.end - begin, mapping.stream});
  }
  for (const auto& [address, block] : start.blocks()) {
    trace::Alive alive;
    alive.block = AllocationOf(block, device);
    alive.block.pool = snapshot_.PoolAt(place, address);
    alive.waiting = block.waiting ? 1 : 0;
    Tell(alive);
  }
}

void TorchSnapshot::Visit::VisitEntry(int32_t device, const SnapshotEntry& entry, size_t index) {
  const uint64_t now = std::max(entry.time_us, snapshot_.began_us_) - snapshot_.began_us_;
  event_.time_ns = std::max(event_.time_ns, now * 1000);
  uint64_t& mapped = mapped_[static_cast<size_t>(device)];
  switch (entry.action) {
    case SnapshotAction::kAllocate: {
      const auto place = static_cast<size_t>(device);
      const SnapshotBlock* final_block = snapshot_.starts_[place].FinalBlock(index);
      Tell(trace::Allocate{
          .device = device,
          .address = entry.address,
          .requested = entry.size,
          .allocated = final_block != nullptr ? final_block->size : Rounded(entry.size),
          .stream = entry.stream,
          .pool = snapshot_.PoolAt(place, entry.address),
          .stack = StackOf(entry.frames)});
      return;
    }
    case SnapshotAction::kFreeRequested:
      return Tell(trace::FreeRequested{device, entry.address});
    case SnapshotAction::kFreeCompleted:
      return Tell(trace::FreeCompleted{device, entry.address});
    case SnapshotAction::kMap:
      mapped += entry.size;
      return Tell(trace::Map{device, entry.address, entry.size, entry.stream});
    case SnapshotAction::kUnmap:
      mapped -= std::min(mapped, entry.size);
      return Tell(trace::Unmap{device, entry.address, entry.size});
    case SnapshotAction::kOutOfMemory:
      return VisitFailure(device, entry);
  }
}

// Of the card the snapshot knows only what the driver had left: its size is what the allocator has
// and that, so that context and other processes are not in it.
void TorchSnapshot::Visit::VisitFailure(int32_t device, const SnapshotEntry& entry) {
  const uint64_t mapped = mapped_[static_cast<size_t>(device)];
  Tell(trace::CardSample{{.device = device,
                          .total = mapped + entry.address,
                          .free = entry.address,
                          .reserved = mapped}});
  trace::OutOfMemory failed;
  failed.device = device;
  failed.stream = entry.stream;
  failed.requested = failed.allocated = entry.size;
  failed.obtainable = std::min(entry.address, entry.size);
  failed.stack = StackOf(entry.frames);
  Tell(std::move(failed));
}

TorchSnapshot::TorchSnapshot(PickleTree tree, SnapshotRecords records)
    : tree_(std::move(tree)), records_(std::move(records)) {
  size_t devices = records_.traces.size();
  for (const SnapshotSegment& segment : records_.segments)
    devices = std::max(devices, static_cast<size_t>(segment.device) + 1);
  pools_.resize(devices);
  for (const SnapshotSegment& segment : records_.segments) {
    if (segment.pool != 0)
      pools_[static_cast<size_t>(segment.device)][segment.address] = {
          segment.address + segment.size, segment.pool};
  }
  starts_.reserve(devices);
  for (size_t device = 0; device < devices; ++device)
    starts_.emplace_back(records_, static_cast<int32_t>(device));
  began_us_ = ~uint64_t{0};
  for (const auto& trace : records_.traces) {
    if (!trace.empty()) began_us_ = std::min(began_us_, trace.front().time_us);
  }
  NoteOwnTotals();
  info_["snapshot"] = std::all_of(starts_.begin(), starts_.end(),
                                  [](const SnapshotStart& start) { return start.is_empty(); })
                          ? "whole"
                          : "late";
  info_["allocator"] = "native";
  if (!records_.settings.empty()) info_["environment.PYTORCH_CUDA_ALLOC_CONF"] = records_.settings;
}

// Where a snapshot's own sum is not that of its blocks (one waits for a stream, or the file was
// changed by another tool), both are told.
void TorchSnapshot::NoteOwnTotals() {
  for (size_t device = 0; device < devices(); ++device) {
    uint64_t own = 0;
    uint64_t of_blocks = 0;
    for (const SnapshotSegment& segment : records_.segments) {
      if (static_cast<size_t>(segment.device) != device) continue;
      own += segment.allocated;
      for (const SnapshotBlock& block : segment.blocks) of_blocks += block.size;
    }
    if (own == of_blocks) continue;
    strings_.push_back("torch.allocated." + std::to_string(device));
    strings_.push_back(std::to_string(own));
  }
}

uint32_t TorchSnapshot::PoolAt(size_t device, uint64_t address) const {
  const auto& pools = pools_[device];
  auto after = pools.upper_bound(address);
  if (after == pools.begin()) return 0;
  const auto& [end, pool] = std::prev(after)->second;
  return address < end ? pool : 0;
}

absl::StatusOr<TorchSnapshot> TorchSnapshot::Read(std::string_view pickle) {
  auto tree = ReadPickle(pickle);
  if (!tree.ok()) return tree.status();
  auto records = ReadSnapshotRecords(*tree);
  if (!records.ok()) return records.status();
  return TorchSnapshot(*std::move(tree), *std::move(records));
}

void TorchSnapshot::ForEach(const std::function<void(const trace::Event&)>& visit) const {
  Visit(*this, visit).Run();
}

// Frames of C++ stand in front of those of Python, and are many: they are left out where there is
// a line of Python.
std::vector<trace::Frame> TorchSnapshot::Stack(trace::StackId id) const {
  std::vector<trace::Frame> frames;
  std::vector<trace::Frame> native;
  if (id == 0) return frames;
  tree_.ForEach({PickleValue::Kind::kSequence, id - 1}, [&](PickleValue value) {
    trace::Frame frame;
    tree_.ForEachPair(value, [&](std::string_view key, PickleValue of) {
      if (key == "filename") frame.file = tree_.Text(of).value_or("");
      if (key == "name") frame.function = tree_.Text(of).value_or("");
      if (key == "line") frame.line = static_cast<uint32_t>(tree_.Int(of).value_or(0));
    });
    const bool is_python = frame.file.ends_with(".py") || frame.file.starts_with('<');
    (is_python ? frames : native).push_back(std::move(frame));
  });
  return frames.empty() ? native : frames;
}

}  // namespace memtrace::interchange
