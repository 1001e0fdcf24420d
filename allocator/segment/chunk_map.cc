// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/chunk_map.h"

#include <atomic>
#include <iterator>

#include "base/check.h"

namespace memtrace {
namespace {

uint64_t NextSerial() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

}  // namespace

void ChunkMap::Add(ChunkRange chunk, Place place) {
  MEMTRACE_CHECK_GT(chunk.count, 0U);
  ranges_ += 1 - Neighbours(chunk);
  granules_ += chunk.count;
  if (place == Place::kHost) on_host_ += chunk.count;
  const auto [at, inserted] =
      chunks_.emplace(chunk.first, Chunk{chunk.count, NextSerial(), place, /*is_shared=*/false});
  MEMTRACE_CHECK(inserted);
  if (at != chunks_.begin()) {
    const auto below = std::prev(at);
    MEMTRACE_CHECK_LE(below->first + below->second.count, chunk.first);
  }
  if (const auto above = std::next(at); above != chunks_.end()) {
    MEMTRACE_CHECK_LE(chunk.end(), above->first);
  }
}

void ChunkMap::Remove(ChunkRange chunk) {
  const auto found = chunks_.find(chunk.first);
  MEMTRACE_CHECK(found != chunks_.end());
  MEMTRACE_CHECK_EQ(found->second.count, chunk.count);
  if (found->second.place == Place::kHost) on_host_ -= chunk.count;
  chunks_.erase(found);
  granules_ -= chunk.count;
  ranges_ -= 1 - Neighbours(chunk);
}

std::vector<ChunkRange> ChunkMap::Inside(GranuleIndex first, GranuleIndex end) const {
  std::vector<ChunkRange> inside;
  for (auto at = chunks_.lower_bound(first); at != chunks_.end(); ++at) {
    const ChunkRange chunk{at->first, at->second.count};
    if (chunk.end() > end) break;
    inside.push_back(chunk);
  }
  return inside;
}

std::vector<ChunkRange> ChunkMap::Under(GranuleIndex first, GranuleIndex end) const {
  std::vector<ChunkRange> under;
  auto at = chunks_.upper_bound(first);
  if (at != chunks_.begin() && std::prev(at)->first + std::prev(at)->second.count > first) --at;
  for (; at != chunks_.end() && at->first < end; ++at)
    under.push_back({at->first, at->second.count});
  return under;
}

std::string ChunkMap::Picture(GranuleIndex length) const {
  std::string picture(length, '.');
  for (const ChunkRange chunk : chunks()) {
    for (GranuleIndex i = chunk.first; i < chunk.end() && i < length; ++i) picture[i] = 'x';
  }
  return picture;
}

int ChunkMap::Neighbours(ChunkRange chunk) const {
  const auto above = chunks_.lower_bound(chunk.end());
  int neighbours = above != chunks_.end() && above->first == chunk.end() ? 1 : 0;
  const auto at = chunks_.lower_bound(chunk.first);
  if (at != chunks_.begin()) {
    const auto below = std::prev(at);
    if (below->first + below->second.count == chunk.first) ++neighbours;
  }
  return neighbours;
}

}  // namespace memtrace
