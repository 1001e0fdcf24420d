// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/sizes/value_bounds.h"

#include <algorithm>
#include <cmath>

namespace memtrace::fit {
namespace {

// Returns a value between the two, which have at least one between them. Bounds that are far apart
// differ by a factor rather than by an amount, so their product is halved first.
uint64_t Middle(uint64_t fits, uint64_t fails) {
  constexpr uint64_t kFarApart = 8;
  const uint64_t low = std::max<uint64_t>(fits, 1);
  if (fails / low < kFarApart) return fits + (fails - fits) / 2;
  return static_cast<uint64_t>(std::sqrt(static_cast<double>(low) * static_cast<double>(fails)));
}

}  // namespace

ValueBounds::ValueBounds(uint64_t guess, uint64_t most) : fails_{.value = most + 1}, most_(most) {
  guess = std::clamp<uint64_t>(guess, 1, most);
  guesses_ = {guess, guess + 1, guess - 1};
}

void ValueBounds::ExpectToFit(uint64_t value) {
  if (value > fits_.value && value < fails_.value) fits_ = {.value = value, .was_run = false};
}

void ValueBounds::ExpectToFail(uint64_t value) {
  if (value > fits_.value && value < fails_.value) fails_ = {.value = value, .was_run = false};
}

void ValueBounds::NoteRun(uint64_t value, bool fits) {
  (fits ? fits_ : fails_) = {.value = value};
  if (fits_.value < fails_.value) return;
  // The run refutes what was expected of the other bound.
  if (fits) {
    fails_ = {.value = most_ + 1};
  } else {
    fits_ = {};
  }
}

std::optional<uint64_t> ValueBounds::Next() const {
  for (const uint64_t guess : guesses_)
    if (guess > fits_.value && guess < fails_.value) return guess;
  if (fails_.value - fits_.value > 1) {
    const bool has_upper = fails_.value <= most_;
    return has_upper ? Middle(fits_.value, fails_.value) : std::min(2 * fits_.value, most_);
  }
  if (!fails_.was_run) return fails_.value;
  if (!fits_.was_run) return fits_.value;
  return std::nullopt;
}

std::optional<uint64_t> ValueBounds::NextIfFits(uint64_t value) const {
  ValueBounds then = *this;
  then.NoteRun(value, true);
  return then.Next();
}

std::optional<uint64_t> ValueBounds::largest() const {
  return fits_.was_run && fits_.value > 0 ? std::optional(fits_.value) : std::nullopt;
}

std::optional<uint64_t> ValueBounds::fails() const {
  return fails_.was_run && fails_.value <= most_ ? std::optional(fails_.value) : std::nullopt;
}

}  // namespace memtrace::fit
