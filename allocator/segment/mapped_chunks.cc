// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/mapped_chunks.h"

#include <algorithm>

#include "allocator/segment/chunk_exchange.h"
#include "base/check.h"

namespace memtrace {

MappedChunks::MappedChunks(const AddressRange& range, Bytes granularity)
    : range_(range), granularity_(granularity) {
  MEMTRACE_CHECK_EQ(range_.size() % granularity_, Bytes{0});
}

std::vector<MappedChunk> MappedChunks::Under(const AddressRange& range) const {
  std::vector<MappedChunk> under;
  const GranuleIndex end = IndexOf(range.end + granularity_ - 1);
  for (const ChunkRange chunk : map_.Under(IndexOf(range.begin), end)) {
    under.push_back({AddressOf(chunk.first), chunk.count * granularity_, map_.SerialOf(chunk.first),
                     map_.PlaceOf(chunk.first) == Place::kHost});
  }
  return under;
}

std::vector<ChunkRange> MappedChunks::Whole(const AddressRange& range) const {
  return map_.Inside(IndexOf(range.begin + granularity_ - 1), IndexOf(range.end));
}

std::vector<AddressRange> MappedChunks::MissingIn(const AddressRange& range) const {
  std::vector<AddressRange> missing;
  DeviceAddress at = range.begin;
  for (const MappedChunk& chunk : Under(range)) {
    if (at < chunk.address) missing.push_back({at, chunk.address});
    at = chunk.address + chunk.size;
  }
  if (at < range.end) missing.push_back({at, range.end});
  return missing;
}

std::vector<AddressRange> MappedChunks::PiecesIn(const AddressRange& range, Place place) const {
  std::vector<AddressRange> pieces;
  for (const ChunkRange chunk : Whole(range)) {
    if (map_.PlaceOf(chunk.first) != place || map_.IsShared(chunk.first)) continue;
    const AddressRange whole{AddressOf(chunk.first), AddressOf(chunk.end())};
    if (whole.size() > ChunkExchange::kLargest) continue;
    const bool is_joined = !pieces.empty() && pieces.back().end == whole.begin &&
                           pieces.back().size() + whole.size() <= ChunkExchange::kLargest;
    if (!is_joined) pieces.push_back(whole);
    pieces.back().end = whole.end;
  }
  return pieces;
}

AddressRange MappedChunks::Unmappable(const AddressRange& range, Bytes wanted) const {
  const std::vector<ChunkRange> whole = Whole(range);
  if (whole.empty()) return {};
  AddressRange found{AddressOf(whole.back().end()), AddressOf(whole.back().end())};
  for (auto chunk = whole.rbegin(); chunk != whole.rend() && found.size() < wanted; ++chunk)
    found.begin = AddressOf(chunk->first);
  return found;
}

bool MappedChunks::IsAnyOnHost(const AddressRange& range) const {
  if (map_.on_host() == 0) return false;
  const std::vector<MappedChunk> under = Under(range);
  return std::any_of(under.begin(), under.end(),
                     [](const MappedChunk& chunk) { return chunk.is_on_host; });
}

std::string MappedChunks::Picture() const {
  const std::vector<ChunkRange> chunks = map_.chunks();
  return map_.Picture(chunks.empty() ? 0 : chunks.back().end());
}

}  // namespace memtrace
