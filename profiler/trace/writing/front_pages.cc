// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/front_pages.h"

#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "profiler/trace/coding/checksum.h"

namespace memtrace::trace {

bool FrontPages::Map() {
  void* page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(), /*offset=*/0);
  if (page == MAP_FAILED) return false;
  page_ = static_cast<FileHeader*>(page);
  if (header_.summary_offset == 0) return true;
  void* pages = mmap(nullptr, 2 * kSummaryBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.fd(),
                     static_cast<off_t>(header_.summary_offset));
  if (pages != MAP_FAILED) summaries_ = static_cast<uint8_t*>(pages);
  return true;
}

void FrontPages::Unmap() {
  if (summaries_ != nullptr) munmap(std::exchange(summaries_, nullptr), 2 * kSummaryBytes);
  if (page_ != &header_) munmap(std::exchange(page_, &header_), kPageBytes);
}

// Until the checksum is set, the block is an open one without records, which readers ignore.
void FrontPages::WriteSummary(std::string_view text, uint64_t sequence) {
  if (!has_summary()) return;
  const uint64_t place = next_summary_++ % 2 * kSummaryBytes;
  BlockHeader header{.kind = BlockKind::kSummary,
                     .first_sequence = sequence,
                     .capacity = kSummaryBytes,
                     .committed = static_cast<uint32_t>(text.size())};
  header.checksum = BlockChecksum(header, reinterpret_cast<const uint8_t*>(text.data()));
  if (summaries_ == nullptr) {
    if (!file_.IsOurs()) return;
    const BlockHeader empty{.kind = BlockKind::kSummary, .capacity = kSummaryBytes};
    const uint64_t at = header_.summary_offset + place;
    file_.WriteAll(&empty, sizeof(empty), at).IgnoreError();
    file_.WriteAll(text.data(), text.size(), at + sizeof(header)).IgnoreError();
    file_.WriteAll(&header, sizeof(header), at).IgnoreError();
    return;
  }
  auto& block = *reinterpret_cast<BlockHeader*>(summaries_ + place);
  std::atomic_ref(block.checksum).store(0, std::memory_order_release);
  std::atomic_ref(block.committed).store(0, std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  std::memcpy(summaries_ + place + sizeof(block), text.data(), text.size());
  std::atomic_ref(block.first_sequence).store(sequence, std::memory_order_release);
  std::atomic_ref(block.committed).store(header.committed, std::memory_order_release);
  std::atomic_ref(block.checksum).store(header.checksum, std::memory_order_release);
}

void FrontPages::NoteMarksMade(uint64_t count) {
  if (!file_.is_open()) return;
  std::atomic_ref(page_->marks_made).store(count, std::memory_order_release);
}

void FrontPages::NoteLoss(uint64_t lost_events, std::string_view reason) {
  if (!file_.is_open()) return;
  auto& field = page_->lost_reason;
  if (field[0] == 0) reason.copy(field.data(), field.size() - 1);
  std::atomic_ref(page_->lost_events).store(lost_events, std::memory_order_relaxed);
  // If the page is not mapped, noting every single loss would cost a system call each.
  if ((lost_events & (lost_events - 1)) == 0) Flush();
}

void FrontPages::NoteNewest(uint64_t first_sequence) {
  std::atomic_ref(page_->newest_sequence).store(first_sequence, std::memory_order_release);
  Flush();
}

void FrontPages::NoteClosed(uint64_t bytes) {
  page_->closed_bytes = bytes;
  Flush();
}

void FrontPages::Flush() {
  if (page_ == &header_) file_.WriteAll(&header_, sizeof(header_), 0).IgnoreError();
}

}  // namespace memtrace::trace
