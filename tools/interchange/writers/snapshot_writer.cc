// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/writers/snapshot_writer.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/replayed/block_walk.h"
#include "tools/analysis/replayed/mapped_segments.h"
#include "tools/analysis/source/event_source.h"
#include "tools/interchange/writers/pickle_writer.h"

namespace memtrace::interchange {
namespace {

constexpr int32_t kMostCards = 256;                 // a trace that names more is damaged
constexpr uint64_t kLargestSmallSegment = 2 << 20;  // of torch: kSmallBuffer

// Writes the frame lists of a snapshot: each stack, and each frame, is one object however often it
// occurs.
class SnapshotFrames {
 public:
  SnapshotFrames(PickleWriter& pickle, const analysis::EventSource& source)
      : pickle_(pickle), source_(source) {}

  void Write(trace::StackId stack) {
    if (const auto known = stacks_.find(stack); known != stacks_.end()) {
      pickle_.Recall(known->second);
      return;
    }
    pickle_.BeginList();
    for (const trace::Frame& frame : source_.Stack(stack)) {
      pickle_.Item();
      Write(frame);
    }
    pickle_.EndList();
    stacks_.emplace(stack, pickle_.Remember());
  }

 private:
  void Write(const trace::Frame& frame) {
    const std::string key = frame.function + '\0' + frame.file + '\0' + std::to_string(frame.line);
    if (const auto known = frames_.find(key); known != frames_.end()) {
      pickle_.Recall(known->second);
      return;
    }
    pickle_.BeginDict();
    pickle_.Text("filename");
    pickle_.Text(frame.file);
    pickle_.Text("line");
    pickle_.Unsigned(frame.line);
    pickle_.Text("name");
    pickle_.Text(frame.function);
    pickle_.EndDict();
    frames_.emplace(key, pickle_.Remember());
  }

  PickleWriter& pickle_;
  const analysis::EventSource& source_;
  absl::flat_hash_map<trace::StackId, PickleWriter::MemoId> stacks_;
  absl::flat_hash_map<std::string, PickleWriter::MemoId> frames_;
};

class Snapshot {
 public:
  Snapshot(const ExportedRun& run, ByteSink& sink)
      : run_(run), pickle_(sink), frames_(pickle_, run.events) {}

  void Write() {
    pickle_.BeginDict();
    pickle_.Text("device_traces");
    WriteDeviceTraces();
    pickle_.Text("segments");
    WriteSegments();
    pickle_.Text("external_annotations");
    WriteAnnotations();
    pickle_.Text("allocator_settings");
    pickle_.BeginDict();
    Field("expandable_segments", [this] { pickle_.Boolean(expandable_); });
    pickle_.EndDict();
    pickle_.EndDict();
    pickle_.Finish();
  }

 private:
  template <typename Value>
  void Field(std::string_view key, const Value& value) {
    pickle_.Text(key);
    value();
  }
  void Number(std::string_view key, uint64_t value) {
    Field(key, [&] { pickle_.Unsigned(value); });
  }
  void Word(std::string_view key, std::string_view value) {
    Field(key, [&] { pickle_.Text(value); });
  }

  uint64_t Microseconds(uint64_t time_ns) const {
    return (run_.facts.started_unix_ns + time_ns) / 1000;
  }

  void WriteDeviceTraces() {
    const std::vector<int32_t> cards = CardsOf(run_);
    pickle_.BeginList();
    for (int32_t device = 0; device < kMostCards && !cards.empty() && device <= cards.back();
         ++device) {
      pickle_.Item();
      WriteDeviceTrace(device);
    }
    pickle_.EndList();
  }

  void WriteDeviceTrace(int32_t device) {
    pickle_.BeginList();
    const auto& cards = run_.survey.timeline().cards();
    if (const auto card = cards.find(device); card != cards.end())
      WriteHistory(device, card->second);
    pickle_.EndList();
  }

  void WriteHistory(int32_t device, const analysis::CardTimeline& card) {
    walk_ = BlockWalk();
    segments_ = analysis::MappedSegments();
    run_.events.ForEach([&](const trace::Event& event) {
      walk_.Apply(event);
      segments_.Apply(event, [&](const analysis::MappedSegment& gone) {
        if (gone.device == device) AddUnmapped(gone);
      });
      std::visit([&](const auto& payload) { Apply(device, payload); }, event.payload);
    });
    // MemoryViz.js can colour by category only if "unknown" is among them.
    BeginEntry("snapshot", "addr", 0, card.live_allocated, 0, 0);
    Word("category", "unknown");
    pickle_.EndDict();
  }

  // Ignores events that change nothing here.
  template <trace::OneOf<trace::Reserve, trace::Unmap, trace::Relabel, trace::Step,
                         trace::PhaseChange, trace::TagChange, trace::Annotate, trace::CardSample,
                         trace::Lost, trace::OutsideAllocate, trace::OutsideFree, trace::Resume,
                         trace::Alive, trace::Activity, trace::Moved>
                Ignored>
  void Apply(int32_t /*device*/, const Ignored&) {}

  void Apply(int32_t device, const trace::Allocate& allocation) {
    if (allocation.device != device) return;
    const WalkedBlock& block = *walk_.block();
    BeginEntry("alloc", "addr", allocation.address, allocation.requested, allocation.stream,
               allocation.stack);
    Word("category", trace::RoleName(run_.survey.blocks().Main(block.number).role));
    if (const std::string text = Metadata(block); !text.empty()) Word("user_metadata", text);
    pickle_.EndDict();
  }
  void Apply(int32_t device, const trace::FreeRequested& free) {
    if (free.device == device) AddFree("free_requested");
  }
  void Apply(int32_t device, const trace::FreeCompleted& free) {
    if (free.device == device) AddFree("free_completed");
  }
  void Apply(int32_t device, const trace::Map& map) {
    if (map.device != device) return;
    const bool expands = segments_.IsReserved(device, map.address);
    AddEntry(expands ? "segment_map" : "segment_alloc", map.address, map.size, map.stream);
  }
  void Apply(int32_t device, const trace::OutOfMemory& failed) {
    if (failed.device != device) return;
    uint64_t free = failed.obtainable;
    for (const trace::CardLedger& card : failed.cards) {
      if (card.device == device) free = card.free;
    }
    BeginEntry("oom", "device_free", free, failed.requested, failed.stream, failed.stack);
    pickle_.EndDict();
  }

  // Uses the stream that it was mapped for: MemoryViz.js joins neighbours of one stream as it goes
  // back.
  void AddUnmapped(const analysis::MappedSegment& gone) {
    AddEntry(gone.expandable ? "segment_unmap" : "segment_free", gone.address, gone.size,
             gone.stream);
  }

  // Skips a block that the trace knows nothing of, because it has no size.
  void AddFree(std::string_view action) {
    const WalkedBlock* block = walk_.block();
    if (block == nullptr) return;
    const trace::Allocate& allocation = block->allocation;
    AddEntry(action, allocation.address, allocation.requested, allocation.stream);
  }

  void AddEntry(std::string_view action, uint64_t address, uint64_t size, uint64_t stream) {
    BeginEntry(action, "addr", address, size, stream, 0);
    pickle_.EndDict();
  }

  void BeginEntry(std::string_view action, std::string_view place, uint64_t at, uint64_t size,
                  uint64_t stream, trace::StackId stack) {
    pickle_.Item();
    pickle_.BeginDict();
    Word("action", action);
    Number(place, at);
    Number("size", size);
    Number("stream", stream);
    Number("time_us", Microseconds(walk_.now().time_ns));
    Field("frames", [&] { frames_.Write(stack); });
  }

  std::string Metadata(const WalkedBlock& block) const {
    const Identity& identity = run_.survey.blocks().Main(block.number);
    std::string text;
    const auto add = [&](std::string_view key, trace::StringId id) {
      if (id == 0) return;
      if (!text.empty()) text += ", ";
      text.append(key).append("=").append(run_.events.String(id));
    };
    add("owner", identity.owner);
    add("module", block.allocation.module);
    add("path", identity.path);
    return text;
  }

  void WriteSegments() {
    pickle_.BeginList();
    segments_.ForEach(true, [this](const analysis::MappedSegment& segment) {
      if (segment.device < 0 || segment.device >= kMostCards) return;
      pickle_.Item();
      WriteSegment(segment);
    });
    pickle_.EndList();
  }

  void WriteSegment(const analysis::MappedSegment& segment) {
    expandable_ = expandable_ || segment.expandable;
    const uint64_t end = segment.address + segment.size;
    std::vector<WalkedBlock> blocks;
    walk_.ForEachLiving(segment.device, segment.address, end,
                        [&blocks](const WalkedBlock& block) { blocks.push_back(block); });
    uint64_t allocated = 0;
    uint64_t active = 0;
    uint64_t requested = 0;
    for (const WalkedBlock& block : blocks) {
      active += block.allocation.allocated;
      if (block.free_requested) continue;
      allocated += block.allocation.allocated;
      requested += block.allocation.requested;
    }
    pickle_.BeginDict();
    Field("device", [&] { pickle_.Integer(segment.device); });
    Number("address", segment.address);
    Number("total_size", segment.size);
    Number("allocated_size", allocated);
    Number("active_size", active);
    Number("requested_size", requested);
    Number("stream", segment.stream);
    Word("segment_type", segment.size <= kLargestSmallSegment ? "small" : "large");
    Field("segment_pool_id",
          [&] { pickle_.Pair(0, blocks.empty() ? 0 : blocks.front().allocation.pool); });
    Field("is_expandable", [&] { pickle_.Boolean(segment.expandable); });
    Field("frames", [this] { frames_.Write(0); });
    Field("blocks", [&] { WriteBlocks(segment.address, end, blocks); });
    pickle_.EndDict();
  }

  // The blocks tile the segment: what lies between living blocks is inactive.
  void WriteBlocks(uint64_t begin, uint64_t end, const std::vector<WalkedBlock>& blocks) {
    pickle_.BeginList();
    uint64_t at = begin;
    for (const WalkedBlock& block : blocks) {
      const trace::Allocate& allocation = block.allocation;
      if (allocation.address < at) continue;  // overlaps, in a damaged trace
      if (allocation.address > at) WriteBlock(at, allocation.address - at, 0, "inactive", 0);
      const uint64_t size = std::min(allocation.allocated, end - allocation.address);
      WriteBlock(allocation.address, size, allocation.requested,
                 block.free_requested ? "active_pending_free" : "active_allocated",
                 allocation.stack);
      at = allocation.address + size;
    }
    if (at < end) WriteBlock(at, end - at, 0, "inactive", 0);
    pickle_.EndList();
  }

  void WriteBlock(uint64_t address, uint64_t size, uint64_t requested, std::string_view state,
                  trace::StackId stack) {
    pickle_.Item();
    pickle_.BeginDict();
    Number("address", address);
    Number("size", size);
    Number("requested_size", requested);
    Word("state", state);
    Field("frames", [&] { frames_.Write(stack); });
    pickle_.EndDict();
  }

  void WriteAnnotations() {
    std::string step;
    std::string phase;
    pickle_.BeginList();
    run_.events.ForEach([&](const trace::Event& event) {
      if (const auto* begun = std::get_if<trace::Step>(&event.payload))
        Turn(step, "step " + std::to_string(begun->number), event.time_ns);
      if (const auto* change = std::get_if<trace::PhaseChange>(&event.payload)) {
        const bool named = change->phase != trace::Phase::kOther;
        Turn(phase, named ? std::string(trace::PhaseName(change->phase)) : "", event.time_ns);
      }
    });
    const uint64_t end = run_.survey.timeline().counts().last_ns;
    Turn(phase, "", end);
    Turn(step, "", end);
    pickle_.EndList();
  }

  void Turn(std::string& open, std::string next, uint64_t time_ns) {
    if (!open.empty()) Annotate(open, "END", time_ns);
    open = std::move(next);
    if (!open.empty()) Annotate(open, "START", time_ns);
  }

  void Annotate(std::string_view name, std::string_view stage, uint64_t time_ns) {
    pickle_.Item();
    pickle_.BeginDict();
    Word("name", name);
    Word("stage", stage);
    Field("device", [this] {
      pickle_.Integer(run_.survey.timeline().cards().empty() ? 0 : CardsOf(run_).front());
    });
    Number("time_us", Microseconds(time_ns));
    pickle_.EndDict();
  }

  const ExportedRun& run_;
  PickleWriter pickle_;
  SnapshotFrames frames_;
  BlockWalk walk_;  // of the latest reading; at its end
  analysis::MappedSegments segments_;
  bool expandable_ = false;
};

}  // namespace

void WriteSnapshot(const ExportedRun& run, ByteSink& sink) { Snapshot(run, sink).Write(); }

}  // namespace memtrace::interchange
