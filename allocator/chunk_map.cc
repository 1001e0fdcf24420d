// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/chunk_map.h"

#include <iterator>

#include "allocator/check.h"

namespace memtrace {

void ChunkMap::Add(ChunkRange chunk) {
  MEMTRACE_CHECK_GT(chunk.count, 0U);
  ranges_ += 1 - Neighbours(chunk);
  granules_ += chunk.count;
  const auto [at, inserted] = counts_.emplace(chunk.first, chunk.count);
  MEMTRACE_CHECK(inserted);
  if (at != counts_.begin()) {
    const auto below = std::prev(at);
    MEMTRACE_CHECK_LE(below->first + below->second, chunk.first);
  }
  if (const auto above = std::next(at); above != counts_.end()) {
    MEMTRACE_CHECK_LE(chunk.end(), above->first);
  }
}

void ChunkMap::Remove(ChunkRange chunk) {
  const auto found = counts_.find(chunk.first);
  MEMTRACE_CHECK(found != counts_.end());
  MEMTRACE_CHECK_EQ(found->second, chunk.count);
  counts_.erase(found);
  granules_ -= chunk.count;
  ranges_ -= 1 - Neighbours(chunk);
}

std::vector<ChunkRange> ChunkMap::Inside(GranuleIndex first, GranuleIndex end) const {
  std::vector<ChunkRange> inside;
  for (auto at = counts_.lower_bound(first); at != counts_.end(); ++at) {
    const ChunkRange chunk{at->first, at->second};
    if (chunk.end() > end) break;
    inside.push_back(chunk);
  }
  return inside;
}

std::string ChunkMap::Picture(GranuleIndex length) const {
  std::string picture(length, '.');
  for (const ChunkRange chunk : chunks()) {
    for (GranuleIndex i = chunk.first; i < chunk.end() && i < length; ++i) picture[i] = 'x';
  }
  return picture;
}

int ChunkMap::Neighbours(ChunkRange chunk) const {
  const auto above = counts_.lower_bound(chunk.end());
  int neighbours = above != counts_.end() && above->first == chunk.end() ? 1 : 0;
  const auto at = counts_.lower_bound(chunk.first);
  if (at != counts_.begin()) {
    const auto below = std::prev(at);
    if (below->first + below->second == chunk.first) ++neighbours;
  }
  return neighbours;
}

}  // namespace memtrace
