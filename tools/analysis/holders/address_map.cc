// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/address_map.h"

#include "tools/analysis/holders/block_parts.h"

namespace memtrace::analysis {
namespace {

MapPiece PieceOf(const SegmentPiece& piece, uint64_t segment, const LiveSet& live,
                 const EventSource& source, SiteNames& sites) {
  MapPiece named;
  named.offset = piece.address - segment;
  named.bytes = piece.bytes;
  if (piece.is_hole()) return named;
  named.kind = piece.waiting ? MapPiece::Kind::kWaiting : MapPiece::Kind::kBlock;
  const Identity identity = MainIdentity(piece.block, live, source.best_evidence());
  named.role = identity.role;
  named.site = sites.Name(SiteOf(live.block(piece.block), identity, sites));
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
