// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/plans/degree_bracket.h"

#include <algorithm>

namespace memtrace::fit {

uint32_t DegreeBracket::Next(uint32_t predicted) const {
  constexpr uint32_t kOnTrust = 3;
  const bool is_inside = fails_ + 1 < predicted && predicted < fits_ - 1;
  if (tries_ >= kOnTrust && !is_inside) return fails_ + (fits_ - fails_) / 2;
  // A degree at the end of the bracket is known; its neighbour proves it.
  return std::clamp(predicted, fails_ + 1, fits_ - 1);
}

void DegreeBracket::Note(uint32_t degree, bool fits) {
  ++tries_;
  (fits ? fits_ : fails_) = degree;
}

}  // namespace memtrace::fit
