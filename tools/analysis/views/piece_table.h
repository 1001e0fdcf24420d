// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_VIEWS_PIECE_TABLE_H_
#define MEMTRACE_TOOLS_ANALYSIS_VIEWS_PIECE_TABLE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "tools/analysis/replayed/block_walk.h"
#include "tools/analysis/views/block_index.h"
#include "tools/analysis/views/origins.h"
#include "tools/analysis/views/usage_curve.h"

namespace memtrace::analysis {

// A range of a block that has one origin; most blocks are one piece.
struct Piece {
  uint64_t born = 0;    // event
  uint64_t let_go = 0;  // event of the free's request; 0 if there is none, like the next
  uint64_t gone = 0;    // event of its completion
  uint64_t address = 0;
  uint64_t bytes = 0;  // requested
  uint64_t slack = 0;  // allocated beyond the request, for a block's last piece
  OriginId origin = 0;
};

// The choice of the blocks that are kept if not all of them are.
struct PieceChoice {
  uint64_t least = 0;             // blocks of so many requested bytes; 0: all
  std::vector<EventRange> exact;  // and those that live in one of these
};

// Returns the smallest power of two such that the curve's card had at most `most` blocks of at
// least so many bytes; 0 if it had so few in all.
uint64_t LeastBytesFor(const UsageCurve& curve, uint64_t most);

// The chosen blocks of a card over a whole run.
class PieceTable {
 public:
  // The arguments must outlive this.
  PieceTable(const BlockIndex& blocks, Origins& origins, const PieceChoice& choice)
      : blocks_(blocks), origins_(origins), choice_(choice) {}

  // Adds a block that ends with the event `gone`; 0 if it outlives the trace.
  void Add(const WalkedBlock& block, uint64_t gone);

  // Returns the pieces by birth, then by address.
  std::vector<Piece> Sorted() const;

 private:
  bool IsChosen(const WalkedBlock& block, uint64_t gone) const;

  const BlockIndex& blocks_;
  Origins& origins_;
  const PieceChoice& choice_;
  std::vector<Piece> pieces_;
};

}  // namespace memtrace::analysis

#endif  // MEMTRACE_TOOLS_ANALYSIS_VIEWS_PIECE_TABLE_H_
