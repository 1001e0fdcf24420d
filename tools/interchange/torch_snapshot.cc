// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/torch_snapshot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/interchange/entry_order.h"
#include "tools/interchange/pickle_reader.h"
#include "tools/interchange/snapshot_frame.h"

namespace memtrace::interchange {
namespace {

// torch rounds every request up to this, unless it is told to round further. Only the blocks at the
// end say what they really got.
constexpr uint64_t kRounding = 512;

uint64_t Rounded(uint64_t bytes) { return RoundUp(bytes, kRounding); }

// A frame list that events share is one object of the pickle.
trace::StackId StackOf(PickleValue frames) {
  return frames.is_sequence() ? static_cast<trace::StackId>(frames.payload()) + 1 : 0;
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
      : snapshot_(snapshot), visit_(visit), mapped_(snapshot.devices()) {}

  void Run();

 private:
  void VisitStart(int32_t device);
  void VisitEnd(int32_t device);
  void Empty(int32_t device);
  void VisitEntry(int32_t device, const SnapshotEntry& entry, size_t index);
  void VisitFailure(int32_t device, const SnapshotEntry& entry);
  void VisitAllocation(int32_t device, const SnapshotEntry& entry, size_t index);
  void EmitPhase(const RoleGuesses::Entry& guess);
  void Tell(trace::Payload payload) {
    event_.sequence = ++sequence_;
    event_.payload = std::move(payload);
    if (snapshot_.cut_.is_cut) live_.Apply(event_);
    visit_(event_);
  }

  const TorchSnapshot& snapshot_;
  const std::function<void(const trace::Event&)>& visit_;
  std::vector<uint64_t> mapped_;
  analysis::LiveSet live_;  // of a file that is cut
  trace::Event event_;
  uint64_t sequence_ = 0;
  trace::Phase phase_ = trace::Phase::kOther;
  uint64_t step_ = 0;
};

void TorchSnapshot::Visit::Run() {
  const auto& starts = snapshot_.starts_;
  if (std::any_of(starts.begin(), starts.end(),
                  [](const SnapshotStart& start) { return !start.is_empty(); }))
    Tell(trace::Resume{});
  for (size_t device = 0; device < starts.size(); ++device)
    VisitStart(static_cast<int32_t>(device));
  EntryOrder order(snapshot_.records_);
  while (const auto place = order.Next()) {
    EmitPhase(snapshot_.guesses_.entry(place->device, place->index));
    VisitEntry(static_cast<int32_t>(place->device),
               snapshot_.records_.devices[place->device].trace[place->index], place->index);
  }
  for (size_t i = 0; i < starts.size(); ++i)
    if (snapshot_.records_.devices[i].trace_is_cut) VisitEnd(static_cast<int32_t>(i));
  for (trace::StringId id = 1; id + 1 < snapshot_.strings_.size(); id += 2)
    Tell(trace::Annotate{id, id + 1});
}

void TorchSnapshot::Visit::VisitStart(int32_t device) {
  const auto place = static_cast<size_t>(device);
  const SnapshotStart& start = snapshot_.starts_[place];
  // A card of which torch wrote anything belongs to the snapshot, even if it is empty.
  if (snapshot_.records_.devices[place].has_entries) Tell(trace::Map{.device = device});
  for (const SnapshotStart::Range& range : start.expandable())
    Tell(trace::Reserve{.device = device, .address = range.begin, .size = range.end - range.begin});
  for (const auto& [begin, mapping] : start.mapped()) {
    mapped_[place] += mapping.end - begin;
    Tell(trace::Map{device, begin, mapping.end - begin, mapping.stream});
  }
  for (const auto& [address, block] : start.blocks()) {
    trace::Alive alive;
    alive.block = AllocationOf(block, device);
    alive.block.pool = snapshot_.PoolAt(place, address);
    alive.waiting = block.waiting ? 1 : 0;
    const RoleGuesses::Start guess = snapshot_.guesses_.start(place, address);
    alive.phase = guess.phase;
    alive.role = guess.role;
    Tell(alive);
  }
}

// Bridges the gap from where the entries end to where the snapshot was taken: the events between
// are missing, but what the segments say is exact.
void TorchSnapshot::Visit::VisitEnd(int32_t device) {
  const std::vector<SnapshotSegment>& segments =
      snapshot_.records_.devices[static_cast<size_t>(device)].segments;
  if (segments.empty()) return;
  Empty(device);
  for (const SnapshotSegment& segment : segments)
    Tell(trace::Map{device, segment.address, segment.size, segment.stream});
  for (const SnapshotSegment& segment : segments) {
    for (const SnapshotBlock& block : segment.blocks)
      Tell(trace::Alive{.block = AllocationOf(block, device),
                        .waiting = static_cast<uint8_t>(block.waiting ? 1 : 0)});
  }
}

void TorchSnapshot::Visit::Empty(int32_t device) {
  for (const analysis::CapturedBlock& block : live_.Capture(device)) {
    const uint64_t address = live_.block(block.id).allocation.address;
    if (!block.waiting) Tell(trace::FreeRequested{device, address});
    Tell(trace::FreeCompleted{device, address});
  }
  std::vector<trace::Unmap> ranges;
  live_.mapped(device).ForEach([&](uint64_t begin, uint64_t end) {
    ranges.push_back({device, begin, end - begin});
  });
  for (const trace::Unmap& range : ranges) Tell(range);
}

void TorchSnapshot::Visit::VisitEntry(int32_t device, const SnapshotEntry& entry, size_t index) {
  const uint64_t now = std::max(entry.time_us, snapshot_.began_us_) - snapshot_.began_us_;
  event_.time_ns = std::max(event_.time_ns, now * 1000);
  uint64_t& mapped = mapped_[static_cast<size_t>(device)];
  switch (entry.action) {
    case SnapshotAction::kAllocate:
      return VisitAllocation(device, entry, index);
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

void TorchSnapshot::Visit::VisitAllocation(int32_t device, const SnapshotEntry& entry,
                                           size_t index) {
  const auto place = static_cast<size_t>(device);
  const SnapshotBlock* final_block = snapshot_.starts_[place].FinalBlock(index);
  Tell(
      trace::Allocate{.device = device,
                      .address = entry.address,
                      .requested = entry.size,
                      .allocated = final_block != nullptr ? final_block->size : Rounded(entry.size),
                      .stream = entry.stream,
                      .pool = snapshot_.PoolAt(place, entry.address),
                      .stack = StackOf(entry.frames)});
  const trace::Role role = snapshot_.guesses_.entry(place, index).role;
  if (role == trace::Role::kUnknown) return;
  Tell(
      trace::Relabel{.device = device, .address = entry.address, .size = entry.size, .role = role});
}

void TorchSnapshot::Visit::EmitPhase(const RoleGuesses::Entry& guess) {
  if (guess.begins_step) Tell(trace::Step{++step_});
  if (guess.phase == phase_) return;
  phase_ = guess.phase;
  Tell(trace::PhaseChange{.phase = phase_});
}

// The snapshot only knows what the driver had left of the card. The card's size is not known (total
// 0), because context and other processes are not in the file.
void TorchSnapshot::Visit::VisitFailure(int32_t device, const SnapshotEntry& entry) {
  const uint64_t mapped = mapped_[static_cast<size_t>(device)];
  Tell(trace::CardSample{{.device = device, .free = entry.address, .reserved = mapped}});
  trace::OutOfMemory failed;
  failed.device = device;
  failed.stream = entry.stream;
  failed.requested = failed.allocated = entry.size;
  failed.obtainable = std::min(entry.address, entry.size);
  failed.stack = StackOf(entry.frames);
  Tell(std::move(failed));
}

TorchSnapshot::TorchSnapshot(PickleTree tree, PickleCut cut, SnapshotRecords records)
    : tree_(std::move(tree)),
      cut_(std::move(cut)),
      records_(std::move(records)),
      starts_(records_.devices.begin(), records_.devices.end()),
      guesses_(tree_, records_, starts_) {
  began_us_ = ~uint64_t{0};
  pools_.resize(devices());
  for (size_t device = 0; device < devices(); ++device) {
    const SnapshotDevice& of = records_.devices[device];
    for (const SnapshotSegment& segment : of.segments) {
      if (segment.pool != 0)
        pools_[device][segment.address] = {segment.address + segment.size, segment.pool};
    }
    if (!of.trace.empty()) began_us_ = std::min(began_us_, of.trace.front().time_us);
  }
  NoteOwnTotals();
  info_["snapshot"] = std::all_of(starts_.begin(), starts_.end(),
                                  [](const SnapshotStart& start) { return start.is_empty(); })
                          ? "whole"
                          : "late";
  if (cut_.is_cut) info_["snapshot"] = "cut";
  info_["allocator"] = "native";
  strings_.emplace_back(trace::fact::kAllocatorLargePages);
  strings_.emplace_back("1");
  if (guesses_.has_phases()) {
    strings_.emplace_back(trace::fact::kPhasesSource);
    strings_.emplace_back("stacks");
  }
  if (!records_.settings.empty()) info_["environment.PYTORCH_CUDA_ALLOC_CONF"] = records_.settings;
}

// If a snapshot's own sum differs from that of its blocks (one waits for a stream, or another tool
// changed the file), both are stated.
void TorchSnapshot::NoteOwnTotals() {
  for (size_t device = 0; device < devices(); ++device) {
    uint64_t own = 0;
    uint64_t of_blocks = 0;
    for (const SnapshotSegment& segment : records_.devices[device].segments) {
      own += segment.allocated;
      for (const SnapshotBlock& block : segment.blocks) of_blocks += block.size;
    }
    if (own == of_blocks) continue;
    strings_.push_back(trace::fact::kTorchAllocated.Of(device));
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
  PickleCut cut;
  auto tree = ReadPickle(pickle, &cut);
  if (!tree.ok()) return tree.status();
  auto records = ReadSnapshotRecords(*tree, cut);
  if (records.ok()) return TorchSnapshot(*std::move(tree), std::move(cut), *std::move(records));
  const std::string where =
      cut.is_cut ? absl::StrCat(", and it is cut short at byte ", pickle.size()) : "";
  return absl::Status(records.status().code(), absl::StrCat(records.status().message(), where));
}

void TorchSnapshot::ForEach(const std::function<void(const trace::Event&)>& visit) const {
  Visit(*this, visit).Run();
}

// Frames of C++ stand in front of those of Python, and are many, so they are left out if there is a
// line of Python.
std::vector<trace::Frame> TorchSnapshot::Stack(trace::StackId id) const {
  std::vector<trace::Frame> frames;
  if (id == 0) return frames;
  const PickleValue stack(PickleValue::Kind::kSequence, id - 1);
  std::vector<SnapshotFrame> read;
  read.reserve(tree_.Size(stack));
  tree_.ForEach(stack, [&](PickleValue value) { read.push_back(ReadSnapshotFrame(tree_, value)); });
  const bool has_python = std::any_of(read.begin(), read.end(), [](const SnapshotFrame& frame) {
    return IsPythonFile(frame.file);
  });
  for (const SnapshotFrame& frame : read) {
    if (IsPythonFile(frame.file) == has_python && !IsOwnFile(frame.file))
      frames.push_back({std::string(frame.file), std::string(frame.function), frame.line});
  }
  return frames;
}

}  // namespace memtrace::interchange
