// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/replayed/segment_map.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "base/units.h"
#include "tools/analysis/source/address_range.h"

namespace memtrace::analysis {
namespace {

bool HasBlock(const SegmentMap& map) {
  return std::any_of(map.pieces.begin(), map.pieces.end(),
                     [](const SegmentPiece& piece) { return !piece.is_hole(); });
}

// Adds a segment that the driver gave as a whole and takes back as a whole.
void AddUnsplittableSegment(const SegmentMap& map, FreeMemory& free) {
  const bool has_block = HasBlock(map);
  for (const SegmentPiece& piece : map.pieces) {
    if (!piece.is_hole()) continue;
    (has_block ? free.holes : free.cached) += piece.bytes;
    if (has_block) free.largest_hole = std::max(free.largest_hole, piece.bytes);
  }
}

// Adds a hole of an expandable segment: its whole pages can be given back, what lies before and
// behind them cannot. An end of the segment also ends a page.
void AddHole(const SegmentMap& map, const SegmentPiece& piece, FreeMemory& free) {
  const uint64_t begin = piece.address;
  const uint64_t end = begin + piece.bytes;
  const MappedSegment& segment = map.segment;
  const uint64_t first = EndOfPage(segment, begin);
  const uint64_t last = end == segment.address + segment.size ? end : BeginOfPage(segment, end);
  const uint64_t whole = last > first ? last - first : 0;
  free.cached += whole;
  free.holes += piece.bytes - whole;
  const uint64_t largest = whole == 0 ? piece.bytes : std::max(first - begin, end - last);
  free.largest_hole = std::max(free.largest_hole, largest);
}

}  // namespace

uint64_t BeginOfPage(const MappedSegment& segment, uint64_t address) {
  return segment.address + (address - segment.address) / segment.page * segment.page;
}

uint64_t EndOfPage(const MappedSegment& segment, uint64_t address) {
  const uint64_t begin = BeginOfPage(segment, address);
  if (begin == address) return address;
  return std::min(EndOf(begin, segment.page), segment.address + segment.size);
}

uint64_t WholeGranules(uint64_t begin, uint64_t end) {
  const uint64_t first = RoundDown(EndOf(begin, kGranule - 1), kGranule);
  const uint64_t last = RoundDown(end, kGranule);
  return last > first ? last - first : 0;
}

std::vector<SegmentMap> MapSegments(const std::vector<CapturedBlock>& blocks, const LiveSet& live,
                                    const std::vector<MappedSegment>& segments) {
  std::vector<SegmentMap> maps;
  maps.reserve(segments.size());
  auto next = blocks.begin();
  for (auto segment = segments.begin(); segment != segments.end(); ++segment) {
    SegmentMap& map = maps.emplace_back(SegmentMap{*segment, {}});
    uint64_t at = segment->address;
    uint64_t end = at + segment->size;
    for (; next != blocks.end(); ++next) {
      const trace::Allocate& block = live.block(next->id).allocation;
      if (block.address >= end) break;
      if (block.address < at) continue;  // outside every segment, or over another block
      const uint64_t block_end = EndOf(block.address, block.allocated);
      // Only memory that is mapped piece by piece has a block that lies in two pieces.
      while (block_end > end && std::next(segment) != segments.end() &&
             std::next(segment)->address == end) {
        ++segment;
        end += segment->size;
        map.segment.expandable = true;
      }
      if (block.address > at) map.pieces.push_back({at, block.address - at});
      at = std::min(block_end, end);
      if (at > block.address)
        map.pieces.push_back({block.address, at - block.address, next->id, next->waiting});
    }
    map.segment.size = end - map.segment.address;
    if (at < end) map.pieces.push_back({at, end - at});
  }
  return maps;
}

FreeMemory FreeMemoryOf(const std::vector<SegmentMap>& maps) {
  FreeMemory free;
  std::map<uint32_t, FreeOfPool> pools;
  for (const SegmentMap& map : maps) {
    const MappedSegment& segment = map.segment;
    if (segment.pool == 0 && !segment.expandable) AddUnsplittableSegment(map, free);
    for (const SegmentPiece& piece : map.pieces) {
      if (!piece.is_hole()) continue;
      const uint64_t granules = WholeGranules(piece.address, piece.address + piece.bytes);
      if (segment.pool != 0) {
        free.private_pools += piece.bytes;
        pools[segment.pool].bytes += piece.bytes;
        pools[segment.pool].granules += granules;
        continue;
      }
      free.granules += granules;
      if (segment.expandable) AddHole(map, piece, free);
    }
  }
  for (const auto& [id, pool] : pools) free.pools.push_back(pool);
  return free;
}

}  // namespace memtrace::analysis
