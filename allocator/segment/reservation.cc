// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/reservation.h"

#include <algorithm>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "base/status_macros.h"

namespace memtrace {

Reservation::Reservation(const AddressRange& range, Bytes granularity, Vmm& vmm)
    : vmm_(vmm), chunks_(range, granularity) {}

Reservation::~Reservation() {
  // A failure cannot be reported to anybody here; at worst the memory lives until the process ends.
  for (const ChunkRange chunk : chunks_.map().chunks()) UnmapChunk(chunk).IgnoreError();
  Close().IgnoreError();
}

absl::Status Reservation::Close() {
  MEMTRACE_RETURN_IF_ERROR(UndoRest());
  if (!unreleased_.empty()) return absl::UnavailableError("the driver keeps a chunk's handle");
  if (is_closed_) return absl::OkStatus();
  absl::Status status = vmm_.ReleaseReservation(range().begin, range().size());
  is_closed_ = status.ok();
  return status;
}

absl::Status Reservation::UndoRest() {
  for (const ChunkHandle handle : std::exchange(unreleased_, {})) ReleaseHandle(handle);
  absl::Status status;
  while (status.ok() && !without_access_.empty()) {
    status = UnmapChunk(without_access_.back());
    if (status.ok()) without_access_.pop_back();
  }
  return status;
}

absl::Status Reservation::Map(DeviceAddress begin, Bytes size, uint32_t chunk) {
  MEMTRACE_RETURN_IF_ERROR(UndoRest());
  Chunks fresh;
  absl::Status status = MapChunks(begin, size, chunk, fresh);
  if (status.ok()) status = vmm_.GiveAccess(begin, size);
  if (status.ok()) {
    for (const ChunkRange mapped : fresh) chunks_.map().Add(mapped);
    return status;
  }
  without_access_ = std::move(fresh);
  UndoRest().IgnoreError();  // if this fails, the next growth does it
  return status;
}

absl::Status Reservation::MapChunks(DeviceAddress begin, Bytes size, uint32_t most, Chunks& fresh) {
  GranuleIndex next = chunks_.IndexOf(begin);
  const GranuleIndex end = chunks_.IndexOf(begin + size);
  while (next < end) {
    const ChunkRange chunk{next, NextChunk(end - next, most)};
    MEMTRACE_RETURN_IF_ERROR(MapChunk(chunk));
    fresh.push_back(chunk);
    next = chunk.end();
  }
  return absl::OkStatus();
}

// Releases the handle as soon as the chunk is mapped: the mapping keeps the memory alive, so a
// single Unmap gives it back, and a chunk can never be half given back.
absl::Status Reservation::MapChunk(ChunkRange chunk) {
  const Bytes size = chunk.count * granularity();
  MEMTRACE_ASSIGN_OR_RETURN(const ChunkHandle handle, vmm_.Create(size));
  absl::Status status = vmm_.Map(chunks_.AddressOf(chunk.first), size, handle);
  ReleaseHandle(handle);
  return status;
}

absl::Status Reservation::UnmapChunk(ChunkRange chunk) {
  return vmm_.Unmap(chunks_.AddressOf(chunk.first), chunk.count * granularity());
}

void Reservation::ReleaseHandle(ChunkHandle handle) {
  if (!vmm_.Release(handle).ok()) unreleased_.push_back(handle);
}

Reservation::Unmapped Reservation::Unmap(const AddressRange& range, Bytes wanted) {
  const Chunks whole = chunks_.Whole(range);
  if (whole.empty()) return {};
  Unmapped done;
  done.range.begin = done.range.end = chunks_.AddressOf(whole.back().end());
  for (auto chunk = whole.rbegin(); chunk != whole.rend() && done.range.size() < wanted; ++chunk) {
    done.status = UnmapChunk(*chunk);
    if (!done.status.ok()) break;
    chunks_.map().Remove(*chunk);
    done.range.begin = chunks_.AddressOf(chunk->first);
  }
  return done;
}

void Reservation::Adopt(const AddressRange& chunk) {
  chunks_.map().Add(
      {chunks_.IndexOf(chunk.begin), static_cast<uint32_t>(chunk.size() / granularity())});
}

Reservation::PutAwayRuns Reservation::PutAway() {
  PutAwayRuns done;
  done.status = UndoRest();
  const Chunks all = chunks_.map().chunks();
  for (auto first = all.begin(); first != all.end();) {
    const Place place = chunks_.map().PlaceOf(first->first);
    const auto continues = [&](ChunkRange before, ChunkRange chunk) {
      return before.end() == chunk.first && chunks_.map().PlaceOf(chunk.first) == place;
    };
    auto last = first;
    while (last + 1 != all.end() && continues(*last, *(last + 1))) ++last;
    const AddressRange run{chunks_.AddressOf(first->first), chunks_.AddressOf(last->end())};
    const absl::Status unmapped = vmm_.Unmap(run.begin, run.size());
    done.status.Update(unmapped);
    if (unmapped.ok()) {
      for (auto chunk = first; chunk <= last; ++chunk) chunks_.map().Remove(*chunk);
      if (place == Place::kCard) done.of_card.push_back(run);
      if (place == Place::kHost) done.on_host += run.size();
    }
    first = last + 1;
  }
  return done;
}

absl::Status Reservation::Exchange(const AddressRange& piece, Place place,
                                   ChunkExchange& exchange) {
  MEMTRACE_RETURN_IF_ERROR(exchange.Replace(chunks_.Under(piece), piece, place));
  for (const ChunkRange chunk : chunks_.Whole(piece)) chunks_.map().Remove(chunk);
  const GranuleIndex first = chunks_.IndexOf(piece.begin);
  chunks_.map().Add({first, chunks_.IndexOf(piece.end) - first}, place);
  return absl::OkStatus();
}

}  // namespace memtrace
