// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/record_blocks.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "profiler/trace/coding/checksum.h"

namespace memtrace::trace {

RecordBlocks::RecordBlocks(std::unique_ptr<TraceFile> file)
    : file_(std::move(file)), owner_(getpid()), keeps_(file_->ring() != nullptr) {}

RecordBlocks::RecordBlocks(absl::Status why) : owner_(getpid()), keeps_(false) {
  loss_.Stop(std::move(why), 0);
}

bool RecordBlocks::DefinitionsAreFull(size_t bytes) const {
  return keeps_ && !definitions().Fits(bytes) && file_ != nullptr &&
         !file_->ring()->has_room_for_definitions();
}

uint8_t* RecordBlocks::RoomInNext(OpenBlock& block) {
  if (file_ == nullptr || loss_.has_stopped()) return nullptr;
  if (block.data != nullptr) Seal(block, kBlockBytes);
  return !loss_.has_stopped() && Begin(block) ? block.data + block.used : nullptr;
}

// Sequence numbers of blocks of events ascend even if a block has only restated records, because
// readers order blocks by them.
//
// An older block's checksum is cleared first: until its length is 0, readers see that older block,
// complete but open.
bool RecordBlocks::Begin(OpenBlock& block) {
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
    ++begun_;
  }
  // If writing takes a system call, the header is written before the first records.
  absl::Status flushed = file_->Flush(block.chain, 0, block.used);
  if (!flushed.ok()) Stop(std::move(flushed));
  return !loss_.has_stopped();
}

// Closes the block with its checksum. Nothing may be stored in it afterwards.
void RecordBlocks::Seal(OpenBlock& block, uint32_t capacity) {
  BlockHeader sealed = block.header();
  sealed.capacity = capacity;
  block.header().capacity = capacity;
  const uint64_t checksum = BlockChecksum(sealed, block.data + sizeof(BlockHeader));
  std::atomic_ref(block.header().checksum).store(checksum, std::memory_order_release);
  absl::Status flushed = Flush(block);
  block.data = nullptr;
  if (!flushed.ok()) Stop(std::move(flushed));
}

// Writes the records first, then the header with their length.
absl::Status RecordBlocks::Flush(OpenBlock& block) {
  if (!file_->flushes()) return absl::OkStatus();
  MEMTRACE_RETURN_IF_ERROR(
      file_->Flush(block.chain, std::max(block.flushed, sizeof(BlockHeader)), block.used));
  block.flushed = block.used;
  absl::Status header = file_->Flush(block.chain, 0, sizeof(BlockHeader));
  if (header.ok()) block.unflushed_events = 0;
  return header;
}

void RecordBlocks::FlushOrStop(OpenBlock& block) {
  if (absl::Status flushed = Flush(block); !flushed.ok()) Stop(std::move(flushed));
}

// The file keeps its contents; it stays open so that losses can be counted in its first page.
void RecordBlocks::Stop(absl::Status why) {
  loss_.Stop(std::move(why), file_->flushes() ? events_.unflushed_events : 0);
  events_.data = definitions_.data = nullptr;
  file_->front().NoteLoss(loss_.lost_events(), loss_.reason());
}

absl::Status RecordBlocks::NoteLost(uint64_t events) {
  absl::Status told = loss_.Count(events);
  if (file_ != nullptr && loss_.has_stopped()) {
    file_->front().NoteLoss(loss_.lost_events(), loss_.reason());
  }
  return told;
}

void RecordBlocks::Close() {
  if (file_ == nullptr) return;
  if (getpid() != owner_) return Abandon();
  const size_t bytes = events_.data == nullptr ? 0 : events_.used;
  if (definitions_.data != nullptr) Seal(definitions_, kBlockBytes);
  if (events_.data != nullptr) {
    Seal(events_, keeps_ ? kBlockBytes : static_cast<uint32_t>(events_.used));
  }
  file_->Finish(bytes);
  file_.reset();
}

void RecordBlocks::Abandon() {
  if (file_ != nullptr) file_->Abandon();
  file_.reset();
  events_.data = definitions_.data = nullptr;
}

}  // namespace memtrace::trace
