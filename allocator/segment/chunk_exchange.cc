// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/chunk_exchange.h"

#include <utility>

#include "base/check.h"
#include "base/status_macros.h"

namespace memtrace {

ChunkExchange::~ChunkExchange() {
  // A failure cannot be reported to anybody here.
  Mend().IgnoreError();
  if (!window_.is_null() && in_window_ == 0)
    vmm_.ReleaseReservation(window_, kLargest).IgnoreError();
}

absl::Status ChunkExchange::Replace(const std::vector<MappedChunk>& chunks,
                                    const AddressRange& piece, Place place) {
  MEMTRACE_CHECK_LE(piece.size(), kLargest);
  MEMTRACE_RETURN_IF_ERROR(Mend());
  MEMTRACE_RETURN_IF_ERROR(OpenWindow());
  MEMTRACE_ASSIGN_OR_RETURN(const ChunkHandle fresh, place == Place::kHost
                                                         ? vmm_.CreateOnHost(piece.size())
                                                         : vmm_.Create(piece.size()));
  std::vector<Kept> old;
  absl::Status status = CopyInto(fresh, piece);
  if (status.ok()) status = Keep(chunks, old);
  if (status.ok()) status = Swap(fresh, piece, old);
  Release(fresh);
  if (!torn_.has_value()) {
    for (const Kept& kept : old) Release(kept.handle);
  }
  return status;
}

absl::Status ChunkExchange::OpenWindow() {
  if (!window_.is_null()) return absl::OkStatus();
  const absl::StatusOr<DeviceAddress> address = vmm_.Reserve(kLargest);
  if (address.ok()) window_ = *address;
  return address.status();
}

absl::Status ChunkExchange::CloseWindow() {
  if (in_window_ == 0) return absl::OkStatus();
  MEMTRACE_RETURN_IF_ERROR(vmm_.Unmap(window_, in_window_));
  in_window_ = 0;
  return absl::OkStatus();
}

absl::Status ChunkExchange::CopyInto(ChunkHandle fresh, const AddressRange& piece) {
  MEMTRACE_RETURN_IF_ERROR(vmm_.Map(window_, piece.size(), fresh));
  in_window_ = piece.size();
  absl::Status status = vmm_.GiveAccess(window_, piece.size());
  if (status.ok()) {
    status = copies_.Within(piece.begin, window_, piece.size());
    status.Update(copies_.Wait());  // also after a failure: the window is unmapped
  }
  status.Update(CloseWindow());
  return status;
}

absl::Status ChunkExchange::Keep(const std::vector<MappedChunk>& chunks, std::vector<Kept>& old) {
  for (const MappedChunk& chunk : chunks) {
    MEMTRACE_ASSIGN_OR_RETURN(const ChunkHandle handle, vmm_.Retain(chunk.address));
    old.push_back({chunk, handle});
  }
  return absl::OkStatus();
}

absl::Status ChunkExchange::Swap(ChunkHandle fresh, const AddressRange& piece,
                                 const std::vector<Kept>& old) {
  MEMTRACE_RETURN_IF_ERROR(vmm_.Unmap(piece.begin, piece.size()));
  absl::Status status = vmm_.Map(piece.begin, piece.size(), fresh);
  const bool is_covered = status.ok();
  if (status.ok()) status = vmm_.GiveAccess(piece.begin, piece.size());
  if (status.ok()) return status;
  torn_ = Torn{.piece = piece, .old = old, .mapped = 0, .is_covered = is_covered};
  // The caller still has the handles if this succeeds, and releases them.
  if (MendTorn().ok()) torn_.reset();
  return status;
}

absl::Status ChunkExchange::MendTorn() {
  if (torn_->is_covered)
    MEMTRACE_RETURN_IF_ERROR(vmm_.Unmap(torn_->piece.begin, torn_->piece.size()));
  torn_->is_covered = false;
  for (; torn_->mapped < torn_->old.size(); ++torn_->mapped) {
    const Kept& kept = torn_->old[torn_->mapped];
    MEMTRACE_RETURN_IF_ERROR(vmm_.Map(kept.chunk.address, kept.chunk.size, kept.handle));
  }
  return vmm_.GiveAccess(torn_->piece.begin, torn_->piece.size());
}

absl::Status ChunkExchange::Mend() {
  for (const ChunkHandle handle : std::exchange(unreleased_, {})) Release(handle);
  MEMTRACE_RETURN_IF_ERROR(CloseWindow());
  if (!torn_.has_value()) return absl::OkStatus();
  MEMTRACE_RETURN_IF_ERROR(MendTorn());
  for (const Kept& kept : torn_->old) Release(kept.handle);
  torn_.reset();
  return absl::OkStatus();
}

void ChunkExchange::Release(ChunkHandle handle) {
  if (!vmm_.Release(handle).ok()) unreleased_.push_back(handle);
}

}  // namespace memtrace
