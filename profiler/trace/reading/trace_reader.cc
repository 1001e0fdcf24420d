// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/trace_reader.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "profiler/trace/coding/call_tree.h"
#include "profiler/trace/coding/record_decoder.h"
#include "profiler/trace/coding/string_table.h"
#include "profiler/trace/reading/block_scan.h"
#include "profiler/trace/reading/checkpoint_scan.h"
#include "profiler/trace/reading/file_bytes.h"
#include "profiler/trace/reading/queue_cursor.h"

namespace memtrace::trace {
namespace {

bool IsLoss(RecordKind kind) { return kind == KindOf<Lost>(); }

}  // namespace

class TraceReader::State {
 public:
  explicit State(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {
    std::memcpy(&header_, bytes_.data(), std::min(bytes_.size(), sizeof(header_)));
    completeness_.closed = header_.closed_bytes != 0;
    completeness_.lost_events = header_.lost_events;
    ReadBlocks();
    NoteMissingEnd();
    DescribeLoss();
  }

  template <typename Visit>
  void ForEach(const Visit& visit) const;  // passes each event and the offset of its record

  const std::map<std::string, std::string>& info() const { return info_; }
  const StringTable& strings() const { return strings_; }
  const CallTree& stacks() const { return stacks_; }
  const Completeness& completeness() const { return completeness_; }
  const FileHeader& header() const { return header_; }
  const std::vector<Block>& blocks() const { return blocks_; }

 private:
  void ReadBlocks();
  void ReadInOrder(std::vector<Block> blocks);
  void NoteWhereEventsBegin();
  bool IsTrusted(const Block& block) const;
  const uint8_t* ReadBlock(const Block& block);
  bool ReadRecord(const RawRecord& record, DeltaState& delta);
  bool ReadString(RecordDecoder& decoder);
  bool ReadFrame(RecordDecoder& decoder);
  bool ReadStack(RecordDecoder& decoder);
  bool ReadInfo(RecordDecoder& decoder);
  bool ReadEvent(const RawRecord& record, DeltaState& delta);
  void NoteBadRecord(const Block& block, const uint8_t* at);
  void NoteMissingEnd();
  void DescribeLoss();
  void NoteBad(uint64_t offset);

  std::vector<uint8_t> bytes_;
  FileHeader header_;
  std::map<std::string, std::string> info_;
  StringTable strings_;
  CallTree stacks_;
  Completeness completeness_;
  std::vector<Block> blocks_;
  std::map<uint16_t, QueueCursor> queues_;
  StringId lost_reason_ = 0;
  CheckpointScan checkpoints_;
  bool begins_at_checkpoint_ = false;
};

namespace {

bool IsRead(BlockKind kind) {
  return kind == BlockKind::kInfo || kind == BlockKind::kEvents || kind == BlockKind::kDefinitions;
}

// Orders the blocks of a file that drops its oldest ones by age. Removes blocks that were begun
// after the first page was read.
std::vector<Block> SortOldestFirst(std::vector<Block> blocks, const FileHeader& header) {
  if (header.keep_bytes == 0) return blocks;
  std::erase_if(blocks, [&](const Block& block) {
    return block.header.kind == BlockKind::kEvents &&
           block.header.first_sequence > header.newest_sequence;
  });
  std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) {
    return a.header.first_sequence < b.header.first_sequence;
  });
  return blocks;
}

}  // namespace

void TraceReader::State::ReadBlocks() {
  BlockScan scan = ScanBlocks(bytes_.data(), bytes_.size());
  completeness_.damaged_blocks = scan.damaged_blocks;
  completeness_.truncated_bytes = scan.truncated_bytes;
  completeness_.unread_bytes = scan.damaged_bytes + scan.truncated_bytes;
  completeness_.first_bad_offset = scan.first_bad_offset;
  ReadInOrder(SortOldestFirst(std::move(scan.blocks), header_));
  NoteWhereEventsBegin();
}

void TraceReader::State::ReadInOrder(std::vector<Block> blocks) {
  blocks_.reserve(blocks.size());
  size_t number = 0;
  for (Block& block : blocks) {
    if (IsRead(block.header.kind)) {
      checkpoints_.EnterBlock(number++);
      const uint8_t* good_end = ReadBlock(block);
      if (good_end != block.end || block.is_cut) NoteBadRecord(block, good_end);
      block.end = good_end;
      queues_[block.header.queue].Append(block);
    }
    blocks_.push_back(block);
  }
}

// Finds where visiting begins. A trace that has its first event needs no checkpoint.
void TraceReader::State::NoteWhereEventsBegin() {
  completeness_.kept_bytes = header_.keep_bytes;
  if (header_.keep_bytes == 0) return;
  uint64_t first = 0;
  for (auto& [number, queue] : queues_) {
    queue.Rewind();
    if (!queue.done()) first = queue.event().sequence;
  }
  const std::optional<Checkpoint>& found = checkpoints_.found();
  if (first <= 1) return;
  begins_at_checkpoint_ = found.has_value() && queues_.size() == 1;
  completeness_.live_set_missing = !begins_at_checkpoint_;
  completeness_.dropped_events = begins_at_checkpoint_ ? found->sequence : first - 1;
  if (!begins_at_checkpoint_) return;
  for (const Event& event : found->held) {
    if (const auto* resume = std::get_if<Resume>(&event.payload)) {
      completeness_.begins_at_step = resume->step;
    }
  }
}

// Adds definitions and checks events. Returns the end of the last good record.
const uint8_t* TraceReader::State::ReadBlock(const Block& block) {
  DeltaState delta = InitialDelta(block);
  const bool is_trusted = IsTrusted(block);
  const uint8_t* at = block.records;
  while (const auto record = NextRecord(at, block.end)) {
    const bool is_checked = !is_trusted || !IsKnownEvent(record->kind) || IsLoss(record->kind);
    if (is_checked && !ReadRecord(*record, delta)) break;
    at = record->end;
  }
  return at;
}

// True if events need not be decoded, because the checksum is right. Not for a file with
// checkpoints, which need the deltas of the events before them.
bool TraceReader::State::IsTrusted(const Block& block) const {
  return block.header.checksum != 0 && !block.is_cut && header_.keep_bytes == 0;
}

bool TraceReader::State::ReadRecord(const RawRecord& record, DeltaState& delta) {
  RecordDecoder decoder(record, delta);
  switch (record.kind) {
    case RecordKind::kString:
      return ReadString(decoder);
    case RecordKind::kFrame:
      return ReadFrame(decoder);
    case RecordKind::kStack:
      return ReadStack(decoder);
    case RecordKind::kInfo:
      return ReadInfo(decoder);
    case RecordKind::kCheckpoint:
      return checkpoints_.Mark(record, delta);
    default:  // an event, or a kind of a later writer
      if (const RecordKind event = RestatedEvent(record.kind); event != RecordKind::kNone) {
        return checkpoints_.Restated(record, event);
      }
      return !IsKnownEvent(record.kind) || ReadEvent(record, delta);
  }
}

bool TraceReader::State::ReadString(RecordDecoder& decoder) {
  StringId id = 0;
  std::string_view text;
  decoder.Number(id);
  decoder.Text(text);
  if (decoder.ok()) strings_.Define(id, text);
  return decoder.ok();
}

bool TraceReader::State::ReadFrame(RecordDecoder& decoder) {
  FrameId id = 0;
  FrameNames frame;
  decoder.Number(id);
  decoder.Number(frame.file);
  decoder.Number(frame.function);
  decoder.Number(frame.line);
  if (decoder.ok()) stacks_.DefineFrame(id, frame);
  return decoder.ok();
}

bool TraceReader::State::ReadStack(RecordDecoder& decoder) {
  StackId id = 0;
  StackId parent = 0;
  FrameId frame = 0;
  decoder.Number(id);
  decoder.Number(parent);
  decoder.Number(frame);
  return decoder.ok() && stacks_.DefineStack(id, parent, frame);
}

bool TraceReader::State::ReadInfo(RecordDecoder& decoder) {
  std::string_view key;
  std::string_view value;
  decoder.Text(key);
  decoder.Text(value);
  if (decoder.ok()) info_.emplace(key, value);
  return decoder.ok();
}

bool TraceReader::State::ReadEvent(const RawRecord& record, DeltaState& delta) {
  Event event;
  if (!DecodeEvent(record, delta, &event)) return false;
  const Lost* lost = std::get_if<Lost>(&event.payload);
  if (lost != nullptr) completeness_.lost_events += lost->events;
  return true;
}

// A record that extends past the end of the file counts as truncated, any other as damaged. If the
// file ends exactly between two records, the missing part counts as a damaged block.
void TraceReader::State::NoteBadRecord(const Block& block, const uint8_t* at) {
  const auto offset = static_cast<uint64_t>(at - bytes_.data());
  completeness_.unread_bytes += static_cast<uint64_t>(block.end - at);
  if (block.is_cut && at != block.end) {
    completeness_.truncated_bytes += static_cast<uint64_t>(block.end - at);
  } else {
    ++completeness_.damaged_blocks;
  }
  NoteBad(offset);
}

// Blocks that were cut off completely can only be noticed from the size in the header.
void TraceReader::State::NoteMissingEnd() {
  if (bytes_.size() < header_.closed_bytes)
    completeness_.unread_bytes += header_.closed_bytes - bytes_.size();
  if (bytes_.size() < kPageBytes) {
    completeness_.truncated_bytes = bytes_.size();
    NoteBad(bytes_.size());
  } else if (bytes_.size() < header_.closed_bytes && completeness_.whole()) {
    ++completeness_.damaged_blocks;
    NoteBad(bytes_.size());
  }
}

void TraceReader::State::DescribeLoss() {
  if (header_.lost_events == 0) return;
  const auto& reason = header_.lost_reason;
  const auto* end = std::find(reason.begin(), reason.end(), '\0');
  // Uses the last id, which the writer's ids, counting up from 1, cannot reach.
  lost_reason_ = ~StringId{0};
  strings_.Define(lost_reason_,
                  std::string_view(reason.data(), static_cast<size_t>(end - reason.begin())));
}

void TraceReader::State::NoteBad(uint64_t offset) {
  uint64_t& first = completeness_.first_bad_offset;
  first = first == 0 ? offset : std::min(first, offset);
}

// Uses cursors of its own, because `visit` may call this again.
template <typename Visit>
void TraceReader::State::ForEach(const Visit& visit) const {
  std::map<uint16_t, QueueCursor> queues = queues_;
  for (auto& [number, queue] : queues) queue.Rewind();
  if (begins_at_checkpoint_) {
    for (const Event& event : checkpoints_.found()->held) visit(event, 0);
    queues.begin()->second.RewindTo(*checkpoints_.found());
  }
  Event last;
  for (QueueMerge merged(queues); !merged.done(); merged.Advance()) {
    const Event& event = merged.event();
    const auto offset = static_cast<uint64_t>(merged.record() - bytes_.data());
    visit(event, offset);
    last.sequence = event.sequence;
    last.time_ns = event.time_ns;
  }
  if (header_.lost_events == 0) return;
  visit({.sequence = last.sequence + 1,
         .time_ns = last.time_ns,
         .payload = Lost{.events = header_.lost_events, .reason = lost_reason_}},
        0);
}

absl::StatusOr<TraceReader> TraceReader::Open(const std::string& path) {
  MEMTRACE_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes, ReadTraceBytes(path));
  return TraceReader(std::make_unique<State>(std::move(bytes)));
}

TraceReader::TraceReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
TraceReader::~TraceReader() = default;
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader& TraceReader::operator=(TraceReader&&) noexcept = default;

const std::map<std::string, std::string>& TraceReader::info() const { return state_->info(); }
const Completeness& TraceReader::completeness() const { return state_->completeness(); }
const FileHeader& TraceReader::header() const { return state_->header(); }
const std::vector<Block>& TraceReader::blocks() const { return state_->blocks(); }
bool TraceReader::HasString(StringId id) const { return state_->strings().Contains(id); }
bool TraceReader::HasStack(StackId id) const { return state_->stacks().Contains(id); }
std::string_view TraceReader::String(StringId id) const { return state_->strings().Text(id); }

void TraceReader::ForEach(const std::function<void(const Event&)>& visit) const {
  state_->ForEach([&visit](const Event& event, uint64_t /*offset*/) { visit(event); });
}

void TraceReader::ForEachAt(const std::function<void(const Event&, uint64_t)>& visit) const {
  state_->ForEach(visit);
}

std::vector<Frame> TraceReader::Stack(StackId id) const {
  std::vector<Frame> frames;
  for (const FrameNames& names : state_->stacks().Frames(id)) {
    frames.push_back({.file = std::string(String(names.file)),
                      .function = std::string(String(names.function)),
                      .line = names.line});
  }
  return frames;
}

}  // namespace memtrace::trace
