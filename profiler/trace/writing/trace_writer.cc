// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/trace_writer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <variant>

#include "profiler/trace/coding/checksum.h"

namespace memtrace::trace {
namespace {

// Where records must be flushed by system calls, this many bytes of allocations and frees wait for
// each other; everything else is flushed at once.
constexpr size_t kFlushBytes = 4096;

std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace

absl::StatusOr<std::unique_ptr<TraceWriter>> TraceWriter::Open(
    const std::string& path, const std::map<std::string, std::string>& info,
    const TraceFileOptions& options) {
  auto file = TraceFile::Create(path, info, options);
  if (!file.ok()) return file.status();
  return std::unique_ptr<TraceWriter>(new TraceWriter(*std::move(file)));
}

std::unique_ptr<TraceWriter> TraceWriter::Stopped(absl::Status why) {
  std::unique_ptr<TraceWriter> writer(new TraceWriter(nullptr));
  writer->status_ = std::move(why);
  return writer;
}

TraceWriter::TraceWriter(std::unique_ptr<TraceFile> file)
    : file_(std::move(file)),
      path_(file_ == nullptr ? "" : file_->path()),
      owner_(getpid()),
      keeps_(file_ != nullptr && file_->ring() != nullptr) {}

TraceWriter::~TraceWriter() { Close(); }

absl::Status TraceWriter::Write(const Event& event) {
  return std::visit(
      [&](const auto& payload) { return Write(event.sequence, event.time_ns, payload); },
      event.payload);
}

absl::Status TraceWriter::WriteFreed(uint64_t sequence, uint64_t time_ns, int32_t device,
                                     uint64_t address) {
  uint8_t* room = Room(events_, kMaxPlainRecord);
  if (room == nullptr) {
    ++lost_events_;  // the second of the two
    return NoteLost();
  }
  RecordEncoder record(RecordKind::kFreed, room, delta_);
  record.Moment(sequence, time_ns);
  record.Place(device, address);
  ++delta_.sequence;
  events_.unflushed_events += 2;
  Commit(events_, record.Finish(), /*at_once=*/false);
  return absl::OkStatus();
}

StringId TraceWriter::String(std::string_view text) {
  text = text.substr(0, kMaxStringBytes);
  const StringTable::Interned string = strings_.Intern(text);
  if (!string.is_new) return string.id;
  uint8_t* room = DefinitionRoom(kMaxPlainRecord + text.size());
  if (room == nullptr) return string.id;
  RecordEncoder record(RecordKind::kString, room, delta_);
  record.Number(string.id);
  record.Text(text);
  CommitDefinition(record.Finish());
  return string.id;
}

FrameId TraceWriter::DefineFrame(const Frame& frame) {
  const FrameNames names{
      .file = String(frame.file), .function = String(frame.function), .line = frame.line};
  const CallTree::Interned interned = stacks_.InternFrame(names);
  uint8_t* room = interned.is_new ? DefinitionRoom(kMaxPlainRecord) : nullptr;
  if (room == nullptr) return interned.id;
  RecordEncoder record(RecordKind::kFrame, room, delta_);
  record.Number(interned.id);
  record.Number(names.file);
  record.Number(names.function);
  record.Number(names.line);
  CommitDefinition(record.Finish());
  return interned.id;
}

StackId TraceWriter::DefineStack(StackId parent, FrameId frame) {
  const CallTree::Interned interned = stacks_.InternStack(parent, frame);
  uint8_t* room = interned.is_new ? DefinitionRoom(kMaxPlainRecord) : nullptr;
  if (room == nullptr) return interned.id;
  RecordEncoder record(RecordKind::kStack, room, delta_);
  record.Number(interned.id);
  record.Number(parent);
  record.Number(frame);
  CommitDefinition(record.Finish());
  return interned.id;
}

std::vector<Frame> TraceWriter::Stack(StackId id) const {
  std::vector<Frame> frames;
  for (const FrameNames& names : stacks_.Frames(id)) {
    frames.push_back({.file = std::string(Text(names.file)),
                      .function = std::string(Text(names.function)),
                      .line = names.line});
  }
  return frames;
}

// Null if nothing more can be written.
uint8_t* TraceWriter::Room(OpenBlock& block, size_t bytes) {
  if (block.data != nullptr && block.used + bytes <= kBlockBytes) return block.data + block.used;
  if (file_ == nullptr || !status_.ok()) return nullptr;
  if (block.data != nullptr) SealBlock(block, kBlockBytes);
  return status_.ok() && BeginBlock(block) ? block.data + block.used : nullptr;
}

// Definitions that stay must not take what the events need: past their share the tables are closed.
// Where this record alone does not fit any more, its name reads "(lost)".
uint8_t* TraceWriter::DefinitionRoom(size_t bytes) {
  OpenBlock& block = definitions();
  const bool fits = block.data != nullptr && block.used + bytes <= kBlockBytes;
  if (keeps_ && !fits && file_ != nullptr && !file_->ring()->has_room_for_definitions()) {
    strings_.TakeNoMore();
    stacks_.TakeNoMore();
    return nullptr;
  }
  return Room(block, bytes);
}

// Blocks of events that hold only what is said again still ascend: readers order them by age.
//
// In the place of an older block its checksum goes first: what is there until its length is 0 is
// that older block, still open and whole.
bool TraceWriter::BeginBlock(OpenBlock& block) {
  const bool has_events = block.chain == Chain::kEvents;
  BlockHeader begun{.kind = has_events ? BlockKind::kEvents : BlockKind::kDefinitions,
                    .first_sequence = std::max(delta_.sequence, first_sequence_) + 1,
                    .capacity = kBlockBytes};
  auto room = file_->NextBlock(block.chain, begun.first_sequence);
  if (!room.ok()) {
    Stop(room.status());
    return false;
  }
  block = {.chain = block.chain, .data = *room, .used = sizeof(BlockHeader)};
  std::atomic_ref(block.header().checksum).store(0, std::memory_order_release);
  std::atomic_ref(block.header().committed).store(0, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(block.data, &begun, sizeof(begun));
  if (has_events) {
    first_sequence_ = begun.first_sequence;
    delta_ = restated_delta_ = DeltaState{.sequence = begun.first_sequence - 1};
    ++blocks_begun_;
  }
  // Where that takes a system call: the header is there before its first records are.
  absl::Status flushed = file_->Flush(block.chain, 0, block.used);
  if (!flushed.ok()) Stop(std::move(flushed));
  return status_.ok();
}

// Nothing may be stored in the block afterwards.
void TraceWriter::SealBlock(OpenBlock& block, uint32_t capacity) {
  BlockHeader sealed = block.header();
  sealed.capacity = capacity;
  block.header().capacity = capacity;
  const uint64_t checksum = BlockChecksum(sealed, block.data + sizeof(BlockHeader));
  std::atomic_ref(block.header().checksum).store(checksum, std::memory_order_release);
  absl::Status flushed = FlushRecords(block);
  block.data = nullptr;
  if (!flushed.ok()) Stop(std::move(flushed));
}

void TraceWriter::Commit(OpenBlock& block, const uint8_t* end, bool at_once) {
  block.used = static_cast<size_t>(end - block.data);
  // A reader, or whoever reads the file after our death, sees whole records below this length.
  std::atomic_ref(block.header().committed)
      .store(static_cast<uint32_t>(block.used - sizeof(BlockHeader)), std::memory_order_release);
  if (!file_->flushes() || (!at_once && block.used - block.flushed < kFlushBytes)) return;
  if (absl::Status flushed = FlushRecords(block); !flushed.ok()) Stop(std::move(flushed));
}

// In a block of its own a definition is in the file before an event that refers to it.
void TraceWriter::CommitDefinition(const uint8_t* end) {
  Commit(definitions(), end, /*at_once=*/keeps_);
}

void TraceWriter::BeginCheckpoint(uint64_t sequence, uint64_t time_ns) {
  restated_ = 0;
  MarkCheckpoint(0, sequence, time_ns);
}

void TraceWriter::EndCheckpoint() { MarkCheckpoint(restated_ + 1, 0, 0); }

void TraceWriter::MarkCheckpoint(uint64_t restated_plus_one, uint64_t sequence, uint64_t time_ns) {
  uint8_t* room = Room(events_, kMaxPlainRecord);
  if (room == nullptr) return;
  RecordEncoder record(RecordKind::kCheckpoint, room, restated_delta_);
  record.Number(restated_plus_one);
  record.Number(sequence);
  record.Number(time_ns);
  Commit(events_, record.Finish(), /*at_once=*/true);
}

// Records first, then the header that says how many there are.
absl::Status TraceWriter::FlushRecords(OpenBlock& block) {
  if (!file_->flushes()) return absl::OkStatus();
  absl::Status records =
      file_->Flush(block.chain, std::max(block.flushed, sizeof(BlockHeader)), block.used);
  if (!records.ok()) return records;
  block.flushed = block.used;
  absl::Status header = file_->Flush(block.chain, 0, sizeof(BlockHeader));
  if (header.ok()) block.unflushed_events = 0;
  return header;
}

// The file keeps what it has; it stays open for its first page, where losses are counted.
void TraceWriter::Stop(absl::Status why) {
  status_ = std::move(why);
  events_.data = definitions_.data = nullptr;
  if (file_->flushes()) lost_events_ += events_.unflushed_events;
  file_->front().NoteLoss(lost_events_, Message(status_));
}

absl::Status TraceWriter::NoteLost() {
  ++lost_events_;
  if (file_ != nullptr && !status_.ok()) {
    file_->front().NoteLoss(lost_events_, Message(status_));
  }
  if (status_.ok() || std::exchange(told_, true)) return absl::OkStatus();
  return status_;
}

void TraceWriter::Close() {
  if (file_ == nullptr) return;
  if (getpid() != owner_) return AbandonInForkedChild();
  const size_t bytes = events_.data == nullptr ? 0 : events_.used;
  if (definitions_.data != nullptr) SealBlock(definitions_, kBlockBytes);
  if (events_.data != nullptr) {
    SealBlock(events_, keeps_ ? kBlockBytes : static_cast<uint32_t>(events_.used));
  }
  file_->Finish(bytes);
  file_.reset();
}

void TraceWriter::AbandonInForkedChild() {
  if (file_ != nullptr) file_->Abandon();
  file_.reset();
  events_.data = definitions_.data = nullptr;
}

}  // namespace memtrace::trace
