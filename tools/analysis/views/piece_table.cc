// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/piece_table.h"

#include <algorithm>
#include <tuple>

namespace memtrace::analysis {

uint64_t LeastBytesFor(const UsageCurve& curve, uint64_t most) {
  uint64_t blocks = 0;
  for (size_t bits = curve.blocks_by_size.size(); bits-- > 0;) {
    blocks += curve.blocks_by_size[bits];
    if (blocks > most) return bits + 1 == 64 ? ~uint64_t{0} : uint64_t{1} << (bits + 1);
  }
  return 0;
}

bool PieceTable::IsChosen(const WalkedBlock& block, uint64_t gone) const {
  if (block.allocation.requested >= choice_.least) return true;
  return std::any_of(choice_.exact.begin(), choice_.exact.end(), [&](const EventRange& range) {
    return block.birth.ordinal <= range.last && (gone == 0 || gone >= range.first);
  });
}

void PieceTable::Add(const WalkedBlock& block, uint64_t gone) {
  if (!IsChosen(block, gone)) return;
  const trace::Allocate& allocation = block.allocation;
  Piece piece{.born = block.birth.ordinal, .gone = gone};
  piece.let_go = block.free_requested ? block.free_requested->ordinal : gone;
  for (const Part& part : blocks_.Parts(block.number, allocation.requested)) {
    piece.address = allocation.address + part.offset;
    piece.bytes = part.bytes;
    piece.origin = origins_.Of(block, part.identity);
    pieces_.push_back(piece);
  }
  pieces_.back().slack =
      allocation.allocated - std::min(allocation.allocated, allocation.requested);
}

std::vector<Piece> PieceTable::Sorted() const {
  std::vector<Piece> sorted = pieces_;
  std::sort(sorted.begin(), sorted.end(), [](const Piece& a, const Piece& b) {
    return std::tie(a.born, a.address) < std::tie(b.born, b.address);
  });
  return sorted;
}

}  // namespace memtrace::analysis
