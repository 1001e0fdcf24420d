// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/label_ranges.h"

#include <algorithm>

namespace memtrace::trace {

void LabelRanges::SplitAt(uint64_t address) {
  auto after = pieces_.lower_bound(address);
  if (after == pieces_.begin()) return;
  auto piece = std::prev(after);
  if (piece->second.end <= address) return;
  const Piece right = piece->second;
  piece->second.end = address;
  pieces_.emplace_hint(after, address, right);
}

void LabelRanges::State(uint64_t begin, uint64_t end, const Label& label) {
  if (begin >= end) return;
  SplitAt(begin);
  SplitAt(end);
  auto piece = pieces_.lower_bound(begin);
  for (uint64_t at = begin; at < end; ++piece) {
    if (piece == pieces_.end() || piece->first > at) {
      const uint64_t gap_end = piece == pieces_.end() ? end : std::min(end, piece->first);
      piece = pieces_.emplace_hint(piece, at, Piece{gap_end, label});
    } else {
      piece->second.label.Restate(label);
    }
    at = piece->second.end;
  }
}

bool LabelRanges::HasAny(uint64_t begin, uint64_t end) const {
  const auto after = pieces_.lower_bound(begin);
  if (after != pieces_.end() && after->first < end) return true;
  return after != pieces_.begin() && std::prev(after)->second.end > begin;
}

void LabelRanges::AppendTo(std::vector<LabelledRange>& ranges, uint64_t begin, uint64_t end) const {
  auto piece = pieces_.lower_bound(begin);
  if (piece != pieces_.begin() && std::prev(piece)->second.end > begin) --piece;
  for (; piece != pieces_.end() && piece->first < end; ++piece) {
    ranges.push_back(
        {std::max(begin, piece->first), std::min(end, piece->second.end), piece->second.label});
  }
}

void LabelRanges::Forget(uint64_t begin, uint64_t end) {
  SplitAt(begin);
  SplitAt(end);
  auto piece = pieces_.lower_bound(begin);
  while (piece != pieces_.end() && piece->first < end) piece = pieces_.erase(piece);
}

}  // namespace memtrace::trace
