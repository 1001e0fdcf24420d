// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/holders/fragmentation.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/source/address_range.h"

namespace memtrace::analysis {
namespace {

constexpr std::array<uint64_t, 6> kSizes = {0,        64 << 10, 512 << 10,
                                            kGranule, 20 << 20, uint64_t{256} << 20};

// The unit that the driver takes back: a segment as it was given, or a page of an expandable one.
struct Unit {
  uint64_t begin = 0;
  uint64_t end = 0;
};

// Assigns the free bytes of each unit to the blocks in it, in equal shares.
class Pins {
 public:
  explicit Pins(const LiveSet& live, SiteNames& sites) : live_(live), sites_(sites) {}

  void Strand(const std::vector<BlockId>& occupants, uint64_t free) {
    const uint64_t share = free / occupants.size();
    uint64_t rest = free % occupants.size();
    for (const BlockId id : occupants) {
      strands_[id] += share + (rest > 0 ? 1 : 0);
      rest -= rest > 0 ? 1 : 0;
    }
  }

  std::vector<Pin> Sorted() {
    absl::flat_hash_map<std::pair<trace::Role, SiteId>, Pin> pins;
    for (const auto& [id, bytes] : strands_) {
      if (bytes == 0) continue;
      const Block& block = live_.block(id);
      const Identity identity = MainIdentity(id, live_, Evidence::kStated);
      const SiteId site = SiteOf(block, identity, sites_);
      Pin& pin = pins[{identity.role, site}];
      pin.role = identity.role;
      pin.site = sites_.Name(site);
      pin.strands += bytes;
      pin.allocated += block.allocation.allocated;
      ++pin.blocks;
    }
    std::vector<Pin> sorted;
    sorted.reserve(pins.size());
    for (auto& [key, pin] : pins) sorted.push_back(std::move(pin));
    std::sort(sorted.begin(), sorted.end(), [](const Pin& a, const Pin& b) {
      return std::tie(b.strands, a.site, a.role) < std::tie(a.strands, b.site, b.role);
    });
    return sorted;
  }

 private:
  const LiveSet& live_;
  SiteNames& sites_;
  absl::flat_hash_map<BlockId, uint64_t> strands_;
};

// Walks one segment unit by unit.
class SegmentWalk {
 public:
  SegmentWalk(const SegmentMap& map, Fragmentation& result, Pins& pins)
      : map_(map), result_(result), pins_(pins) {}

  void Run() {
    const MappedSegment& segment = map_.segment;
    const uint64_t end = segment.address + segment.size;
    if (!segment.expandable) return Add({segment.address, end});
    // A block strands nothing in pages that it fills, so only the pages at the ends of holes count.
    for (const SegmentPiece& piece : map_.pieces) {
      if (!piece.is_hole()) continue;
      const uint64_t hole_end = piece.address + piece.bytes;
      AddPageOf(piece.address);
      result_.releasable += WholePages(std::max(piece.address, done_), hole_end);
      AddPageOf(hole_end - 1);
    }
  }

 private:
  uint64_t WholePages(uint64_t begin, uint64_t end) const {
    const uint64_t first = EndOfPage(map_.segment, begin);
    const uint64_t last = BeginOfPage(map_.segment, end);
    return last > first ? last - first : 0;
  }

  void AddPageOf(uint64_t address) {
    const MappedSegment& segment = map_.segment;
    const uint64_t page = BeginOfPage(segment, address);
    const Unit unit = {page, std::min(EndOf(page, segment.page), segment.address + segment.size)};
    if (unit.begin < done_ || IsFree(unit)) return;
    done_ = unit.end;
    Add(unit);
  }

  bool IsFree(const Unit& unit) const {
    const SegmentPiece& piece = *PieceAt(unit.begin);
    return unit.end - unit.begin == map_.segment.page && piece.is_hole() &&
           piece.address + piece.bytes >= unit.end;
  }

  std::vector<SegmentPiece>::const_iterator PieceAt(uint64_t address) const {
    const auto after =
        std::upper_bound(map_.pieces.begin(), map_.pieces.end(), address,
                         [](uint64_t at, const SegmentPiece& piece) { return at < piece.address; });
    return std::prev(after);
  }

  void Add(const Unit& unit) {
    uint64_t free = 0;
    occupants_.clear();
    for (auto piece = PieceAt(unit.begin); piece != map_.pieces.end() && piece->address < unit.end;
         ++piece) {
      if (!piece->is_hole()) {
        occupants_.push_back(piece->block);
        continue;
      }
      free +=
          std::min(piece->address + piece->bytes, unit.end) - std::max(piece->address, unit.begin);
    }
    if (occupants_.empty()) {
      result_.releasable += free;
    } else if (free > 0) {
      pins_.Strand(occupants_, free);
    }
  }

  const SegmentMap& map_;
  Fragmentation& result_;
  Pins& pins_;
  uint64_t done_ = 0;  // units before it were added
  std::vector<BlockId> occupants_;
};

void AddHole(uint64_t begin, uint64_t bytes, bool is_of_pool, Fragmentation& result) {
  result.holes += bytes;
  ++result.hole_count;
  if (is_of_pool) {
    result.private_pools += bytes;
  } else {
    result.largest_hole = std::max(result.largest_hole, bytes);
    result.below_granule += bytes - WholeGranules(begin, begin + bytes);
  }
  const auto above = std::upper_bound(kSizes.begin(), kSizes.end(), bytes);
  HolesOfSize& size = result.by_size[static_cast<size_t>(above - kSizes.begin()) - 1];
  ++size.holes;
  size.bytes += bytes;
}

}  // namespace

Fragmentation MeasureFragmentation(const std::vector<SegmentMap>& maps, const LiveSet& live,
                                   SiteNames& sites) {
  Fragmentation result;
  for (size_t i = 0; i < kSizes.size(); ++i) result.by_size[i].from = kSizes[i];
  Pins pins(live, sites);
  for (const SegmentMap& map : maps) {
    ++result.segments;
    const bool is_of_pool = map.segment.pool != 0;
    for (const SegmentPiece& piece : map.pieces) {
      if (piece.is_hole()) AddHole(piece.address, piece.bytes, is_of_pool, result);
    }
    if (!is_of_pool) SegmentWalk(map, result, pins).Run();
  }
  result.pins = pins.Sorted();
  return result;
}

}  // namespace memtrace::analysis
