// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/address_map.h"

#include <algorithm>
#include <utility>

#include "tools/analysis/block_parts.h"

namespace memtrace::analysis {
namespace {

MapPiece PieceOf(const SegmentPiece& piece, uint64_t segment, const LiveSet& live,
                 const EventSource& source, SiteNames& sites) {
  MapPiece named;
  named.offset = piece.address - segment;
  named.bytes = piece.bytes;
  if (piece.is_hole()) return named;
  named.kind = piece.waiting ? MapPiece::Kind::kWaiting : MapPiece::Kind::kBlock;
  const Block& block = live.block(piece.block);
  const std::vector<Part> parts =
      PartsOf(block, live.Labels(piece.block), live.position(), source.best_evidence());
  const auto largest = std::max_element(
      parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.bytes < b.bytes; });
  const Identity identity = largest == parts.end() ? Identity() : largest->identity;
  named.role = identity.role;
  named.site = sites.Name(sites.Site(identity.role, identity.path, block.allocation.module,
                                     block.allocation.stack, block.birth.phase));
  return named;
}

}  // namespace

std::vector<MapSegment> NameMaps(const std::vector<SegmentMap>& maps, const LiveSet& live,
                                 const EventSource& source, SiteNames& sites) {
  std::vector<MapSegment> named;
  named.reserve(maps.size());
  for (const SegmentMap& map : maps) {
    MapSegment& segment = named.emplace_back();
    segment.address = map.segment.address;
    segment.bytes = map.segment.size;
    segment.stream = map.segment.stream;
    segment.expandable = map.segment.expandable;
    segment.pieces.reserve(map.pieces.size());
    for (const SegmentPiece& piece : map.pieces)
      segment.pieces.push_back(PieceOf(piece, segment.address, live, source, sites));
  }
  return named;
}

}  // namespace memtrace::analysis
