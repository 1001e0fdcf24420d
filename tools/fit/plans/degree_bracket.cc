// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/plans/degree_bracket.h"

#include <algorithm>

namespace memtrace::fit {

uint32_t DegreeBracket::Next(uint32_t predicted) const {
  constexpr uint32_t kWrongTwice = 2;
  if (on_same_side_ >= kWrongTwice) return fails_ + (fits_ - fails_) / 2;
  // A degree at the end of the bracket is known; its neighbour proves it.
  return std::clamp(predicted, fails_ + 1, fits_ - 1);
}

void DegreeBracket::Note(uint32_t degree, bool fits) {
  on_same_side_ = on_same_side_ > 0 && fits == fitted_last_ ? on_same_side_ + 1 : 1;
  fitted_last_ = fits;
  (fits ? fits_ : fails_) = degree;
}

}  // namespace memtrace::fit
