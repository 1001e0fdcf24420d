// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/trace_writer.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>
#include <variant>

#include "profiler/trace/checksum.h"

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
    : file_(std::move(file)), path_(file_ == nullptr ? "" : file_->path()), owner_(getpid()) {}

TraceWriter::~TraceWriter() { Close(); }

absl::Status TraceWriter::Write(const Event& event) {
  return std::visit(
      [&](const auto& payload) { return Write(event.sequence, event.time_ns, payload); },
      event.payload);
}

absl::Status TraceWriter::WriteFreed(uint64_t sequence, uint64_t time_ns, int32_t device,
                                     uint64_t address) {
  uint8_t* room = Room(kMaxPlainRecord);
  if (room == nullptr) {
    ++lost_events_;  // the second of the two
    return NoteLost();
  }
  RecordEncoder record(RecordKind::kFreed, room, delta_);
  record.Moment(sequence, time_ns);
  record.Place(device, address);
  ++delta_.sequence;
  unflushed_events_ += 2;
  Commit(record.Finish(), /*at_once=*/false);
  return absl::OkStatus();
}

StringId TraceWriter::String(std::string_view text) {
  text = text.substr(0, kMaxStringBytes);
  const StringTable::Interned string = strings_.Intern(text);
  if (!string.is_new) return string.id;
  uint8_t* room = Room(kMaxPlainRecord + text.size());
  if (room == nullptr) return string.id;
  RecordEncoder record(RecordKind::kString, room, delta_);
  record.Number(string.id);
  record.Text(text);
  Commit(record.Finish(), /*at_once=*/false);
  return string.id;
}

FrameId TraceWriter::DefineFrame(const Frame& frame) {
  const FrameNames names{
      .file = String(frame.file), .function = String(frame.function), .line = frame.line};
  const CallTree::Interned interned = stacks_.InternFrame(names);
  uint8_t* room = interned.is_new ? Room(kMaxPlainRecord) : nullptr;
  if (room == nullptr) return interned.id;
  RecordEncoder record(RecordKind::kFrame, room, delta_);
  record.Number(interned.id);
  record.Number(names.file);
  record.Number(names.function);
  record.Number(names.line);
  Commit(record.Finish(), /*at_once=*/false);
  return interned.id;
}

StackId TraceWriter::DefineStack(StackId parent, FrameId frame) {
  const CallTree::Interned interned = stacks_.InternStack(parent, frame);
  uint8_t* room = interned.is_new ? Room(kMaxPlainRecord) : nullptr;
  if (room == nullptr) return interned.id;
  RecordEncoder record(RecordKind::kStack, room, delta_);
  record.Number(interned.id);
  record.Number(parent);
  record.Number(frame);
  Commit(record.Finish(), /*at_once=*/false);
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
uint8_t* TraceWriter::Room(size_t bytes) {
  if (block_ != nullptr && used_ + bytes <= kBlockBytes) return block_ + used_;
  if (file_ == nullptr || !status_.ok()) return nullptr;
  if (block_ != nullptr) SealBlock(kBlockBytes);
  return status_.ok() && BeginBlock() ? block_ + used_ : nullptr;
}

bool TraceWriter::BeginBlock() {
  auto room = file_->NextBlock();
  if (!room.ok()) {
    Stop(room.status());
    return false;
  }
  block_ = *room;
  BlockHeader begun{.first_sequence = delta_.sequence + 1, .capacity = kBlockBytes};
  std::memcpy(block_, &begun, sizeof(begun));
  used_ = sizeof(BlockHeader);
  flushed_ = 0;
  unflushed_events_ = 0;
  delta_ = DeltaState{.sequence = begun.first_sequence - 1};
  // Where that takes a system call: the header is there before its first records are.
  if (absl::Status flushed = file_->Flush(0, used_); !flushed.ok()) Stop(std::move(flushed));
  return status_.ok();
}

// Nothing may be stored in the block afterwards.
void TraceWriter::SealBlock(uint32_t capacity) {
  BlockHeader sealed = header();
  sealed.capacity = capacity;
  header().capacity = capacity;
  const uint64_t checksum = BlockChecksum(sealed, block_ + sizeof(BlockHeader));
  std::atomic_ref(header().checksum).store(checksum, std::memory_order_release);
  absl::Status flushed = FlushRecords();
  block_ = nullptr;
  if (!flushed.ok()) Stop(std::move(flushed));
}

void TraceWriter::Commit(const uint8_t* end, bool at_once) {
  used_ = static_cast<size_t>(end - block_);
  // A reader, or whoever reads the file after our death, sees whole records below this length.
  std::atomic_ref(header().committed)
      .store(static_cast<uint32_t>(used_ - sizeof(BlockHeader)), std::memory_order_release);
  if (!file_->flushes() || (!at_once && used_ - flushed_ < kFlushBytes)) return;
  if (absl::Status flushed = FlushRecords(); !flushed.ok()) Stop(std::move(flushed));
}

// Records first, then the header that says how many there are.
absl::Status TraceWriter::FlushRecords() {
  if (!file_->flushes()) return absl::OkStatus();
  absl::Status records = file_->Flush(std::max(flushed_, sizeof(BlockHeader)), used_);
  if (!records.ok()) return records;
  flushed_ = used_;
  absl::Status header = file_->Flush(0, sizeof(BlockHeader));
  if (header.ok()) unflushed_events_ = 0;
  return header;
}

// The file keeps what it has; it stays open for its first page, where losses are counted.
void TraceWriter::Stop(absl::Status why) {
  status_ = std::move(why);
  block_ = nullptr;
  if (file_->flushes()) lost_events_ += unflushed_events_;
  file_->NoteLoss(lost_events_, Message(status_));
}

absl::Status TraceWriter::NoteLost() {
  ++lost_events_;
  if (file_ != nullptr && !status_.ok()) {
    file_->NoteLoss(lost_events_, Message(status_));
  }
  if (status_.ok() || std::exchange(told_, true)) return absl::OkStatus();
  return status_;
}

void TraceWriter::Close() {
  if (file_ == nullptr) return;
  if (getpid() != owner_) return AbandonInForkedChild();
  const size_t bytes = block_ == nullptr ? 0 : used_;
  if (block_ != nullptr) SealBlock(static_cast<uint32_t>(used_));
  file_->Finish(bytes);
  file_.reset();
}

void TraceWriter::AbandonInForkedChild() {
  if (file_ != nullptr) file_->Abandon();
  file_.reset();
  block_ = nullptr;
}

}  // namespace memtrace::trace
