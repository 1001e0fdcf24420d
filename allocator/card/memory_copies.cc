// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/card/memory_copies.h"

#include "base/check.h"
#include "base/status_macros.h"

namespace memtrace {

absl::StatusOr<HostPiece> MemoryCopies::TakeHostMemory(Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kHostMemory));
  if (size > host_ - taken_) return absl::ResourceExhaustedError("the host is full");
  const HostPiece piece{.address = next_address_, .size = size, .is_pinned = true};
  next_address_ += size;
  taken_ += size;
  pieces_[piece.address] = size;
  return piece;
}

void MemoryCopies::GiveHostMemoryBack(const HostPiece& piece) {
  MEMTRACE_CHECK_EQ(pieces_.erase(piece.address), size_t{1});
  contents_.Erase(piece.address, piece.size);
  taken_ -= piece.size;
}

absl::Status MemoryCopies::ToHost(DeviceAddress from, uint64_t host, Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kCopy));
  NoteUse(from, size);
  contents_.Copy(card_, from.value(), host, size);
  return absl::OkStatus();
}

absl::Status MemoryCopies::ToCard(uint64_t host, DeviceAddress to, Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kCopy));
  NoteUse(to, size);
  card_.Copy(contents_, host, to.value(), size);
  return absl::OkStatus();
}

absl::Status MemoryCopies::Within(DeviceAddress from, DeviceAddress to, Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kCopy));
  NoteUse(from, size);
  NoteUse(to, size);
  card_.Copy(card_, from.value(), to.value(), size);
  return absl::OkStatus();
}

absl::Status MemoryCopies::Clear(DeviceAddress address, Bytes size) {
  MEMTRACE_RETURN_IF_ERROR(Next(DriverCall::kCopy));
  NoteUse(address, size);
  card_.Write(address.value(), size, MemoryContents::kZeros);
  return absl::OkStatus();
}

// The copies' own stream, which is waited for in each sleep and wake.
void MemoryCopies::NoteUse(DeviceAddress address, Bytes size) {
  vmm_.NoteUse(address, size, {.stream = StreamId{~uint64_t{0}}, .number = 0});
}

}  // namespace memtrace
