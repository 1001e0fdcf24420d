// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/reservation.h"

#include <algorithm>
#include <utility>

#include "allocator/blocks/size_policy.h"
#include "base/check.h"
#include "base/status_macros.h"

namespace memtrace {

Reservation::Reservation(const AddressRange& range, Bytes granularity, Vmm& vmm)
    : range_(range), granularity_(granularity), vmm_(vmm) {
  MEMTRACE_CHECK_EQ(range_.size() % granularity_, Bytes{0});
}

Reservation::~Reservation() {
  // A failure cannot be reported to anybody here; at worst the memory lives until the process ends.
  for (const ChunkRange chunk : chunks_.chunks()) UnmapChunk(chunk).IgnoreError();
  Close().IgnoreError();
}

absl::Status Reservation::Close() {
  MEMTRACE_RETURN_IF_ERROR(UndoRest());
  if (!unreleased_.empty()) return absl::UnavailableError("the driver keeps a chunk's handle");
  if (is_closed_) return absl::OkStatus();
  absl::Status status = vmm_.ReleaseReservation(range_.begin, range_.size());
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
    for (const ChunkRange mapped : fresh) chunks_.Add(mapped);
    return status;
  }
  without_access_ = std::move(fresh);
  UndoRest().IgnoreError();  // if this fails, the next growth does it
  return status;
}

absl::Status Reservation::MapChunks(DeviceAddress begin, Bytes size, uint32_t most, Chunks& fresh) {
  GranuleIndex next = IndexOf(begin);
  const GranuleIndex end = IndexOf(begin + size);
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
  const Bytes size = chunk.count * granularity_;
  const absl::StatusOr<ChunkHandle> handle = vmm_.Create(size);
  if (!handle.ok()) return handle.status();
  absl::Status status = vmm_.Map(AddressOf(chunk.first), size, *handle);
  ReleaseHandle(*handle);
  return status;
}

absl::Status Reservation::UnmapChunk(ChunkRange chunk) {
  return vmm_.Unmap(AddressOf(chunk.first), chunk.count * granularity_);
}

void Reservation::ReleaseHandle(ChunkHandle handle) {
  if (!vmm_.Release(handle).ok()) unreleased_.push_back(handle);
}

Reservation::Unmapped Reservation::Unmap(const AddressRange& range, Bytes wanted) {
  const Chunks whole = WholeChunks(range);
  if (whole.empty()) return {};
  Unmapped done;
  done.range.begin = done.range.end = AddressOf(whole.back().end());
  for (auto chunk = whole.rbegin(); chunk != whole.rend() && done.range.size() < wanted; ++chunk) {
    done.status = UnmapChunk(*chunk);
    if (!done.status.ok()) break;
    chunks_.Remove(*chunk);
    done.range.begin = AddressOf(chunk->first);
  }
  return done;
}

void Reservation::Adopt(const AddressRange& chunk) {
  chunks_.Add({IndexOf(chunk.begin), static_cast<uint32_t>(chunk.size() / granularity_)});
}

Reservation::PutAwayRuns Reservation::PutAway() {
  PutAwayRuns done;
  done.status = UndoRest();
  const Chunks all = chunks_.chunks();
  for (auto first = all.begin(); first != all.end();) {
    const Place place = chunks_.PlaceOf(first->first);
    const auto continues = [&](ChunkRange before, ChunkRange chunk) {
      return before.end() == chunk.first && chunks_.PlaceOf(chunk.first) == place;
    };
    auto last = first;
    while (last + 1 != all.end() && continues(*last, *(last + 1))) ++last;
    const AddressRange run{AddressOf(first->first), AddressOf(last->end())};
    const absl::Status unmapped = vmm_.Unmap(run.begin, run.size());
    done.status.Update(unmapped);
    if (unmapped.ok()) {
      for (auto chunk = first; chunk <= last; ++chunk) chunks_.Remove(*chunk);
      if (place == Place::kCard) done.of_card.push_back(run);
      if (place == Place::kHost) done.on_host += run.size();
    }
    first = last + 1;
  }
  return done;
}

std::vector<AddressRange> Reservation::MissingIn(const AddressRange& range) const {
  std::vector<AddressRange> missing;
  DeviceAddress at = range.begin;
  for (const MappedChunk& chunk : ChunksUnder(range)) {
    if (at < chunk.address) missing.push_back({at, chunk.address});
    at = chunk.address + chunk.size;
  }
  if (at < range.end) missing.push_back({at, range.end});
  return missing;
}

AddressRange Reservation::Unmappable(const AddressRange& range, Bytes wanted) const {
  const Chunks whole = WholeChunks(range);
  if (whole.empty()) return {};
  AddressRange found{AddressOf(whole.back().end()), AddressOf(whole.back().end())};
  for (auto chunk = whole.rbegin(); chunk != whole.rend() && found.size() < wanted; ++chunk)
    found.begin = AddressOf(chunk->first);
  return found;
}

Reservation::Chunks Reservation::WholeChunks(const AddressRange& range) const {
  return chunks_.Inside(IndexOf(range.begin + granularity_ - 1), IndexOf(range.end));
}

std::vector<MappedChunk> Reservation::ChunksUnder(const AddressRange& range) const {
  std::vector<MappedChunk> under;
  const GranuleIndex end = IndexOf(range.end + granularity_ - 1);
  for (const ChunkRange chunk : chunks_.Under(IndexOf(range.begin), end)) {
    under.push_back({AddressOf(chunk.first), chunk.count * granularity_,
                     chunks_.SerialOf(chunk.first), chunks_.PlaceOf(chunk.first) == Place::kHost});
  }
  return under;
}

std::vector<AddressRange> Reservation::PiecesIn(const AddressRange& range, Place place) const {
  std::vector<AddressRange> pieces;
  for (const ChunkRange chunk : WholeChunks(range)) {
    if (chunks_.PlaceOf(chunk.first) != place || chunks_.IsShared(chunk.first)) continue;
    const AddressRange whole{AddressOf(chunk.first), AddressOf(chunk.end())};
    if (whole.size() > ChunkExchange::kLargest) continue;
    const bool is_joined = !pieces.empty() && pieces.back().end == whole.begin &&
                           pieces.back().size() + whole.size() <= ChunkExchange::kLargest;
    if (!is_joined) pieces.push_back(whole);
    pieces.back().end = whole.end;
  }
  return pieces;
}

bool Reservation::IsAnyOnHost(const AddressRange& range) const {
  if (chunks_.on_host() == 0) return false;
  const std::vector<MappedChunk> under = ChunksUnder(range);
  return std::any_of(under.begin(), under.end(),
                     [](const MappedChunk& chunk) { return chunk.is_on_host; });
}

absl::Status Reservation::Exchange(const AddressRange& piece, Place place,
                                   ChunkExchange& exchange) {
  MEMTRACE_RETURN_IF_ERROR(exchange.Replace(ChunksUnder(piece), piece, place));
  for (const ChunkRange chunk : WholeChunks(piece)) chunks_.Remove(chunk);
  const GranuleIndex first = IndexOf(piece.begin);
  chunks_.Add({first, IndexOf(piece.end) - first}, place);
  return absl::OkStatus();
}

std::string Reservation::Picture() const {
  const Chunks chunks = chunks_.chunks();
  return chunks_.Picture(chunks.empty() ? 0 : chunks.back().end());
}

}  // namespace memtrace
