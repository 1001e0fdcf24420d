// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/plan/plan_cursor.h"

#include <algorithm>

namespace memtrace {
namespace {

constexpr uint64_t Mix(uint64_t hash, Bytes size) {
  return (hash ^ size) * 0x9E3779B97F4A7C15;  // Fibonacci hashing, as in RecentFrees
}

template <typename Sizes>
uint64_t HashOf(const Sizes& size_of) {
  uint64_t hash = 0;
  for (size_t i = 0; i < PlanCursor::kGram; ++i) {
    hash = Mix(hash, size_of(i));
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

PlanCursor::PlanCursor(const PlanSection& section) : section_(section) {
  // Covers the prologue, one cycle, and the next cycle as far as a gram reaches.
  const size_t wrapped = section_.cycle() > 0 ? kGram - 1 : 0;
  const size_t steps = section_.items.size() + wrapped;
  if (steps < kGram) return;
  grams_.reserve(steps - kGram + 1);
  for (size_t step = kGram - 1; step < steps; ++step) {
    const auto size_of = [&](size_t i) { return SizeAt(step + 1 - kGram + i); };
    grams_.push_back({HashOf(size_of), ItemAt(step)});
  }
  std::sort(grams_.begin(), grams_.end());
}

// Returns the item of a step, in a run whose cycle never ends.
size_t PlanCursor::ItemAt(size_t step) const {
  if (step < section_.items.size()) return step;
  return section_.prologue + (step - section_.prologue) % section_.cycle();
}

std::optional<Bytes> PlanCursor::Next(Bytes size) {
  Remember(size);
  if (NextIfDue(size).has_value()) return AdvancePast(at_);
  if (const auto item = FindAhead()) return AdvancePast(*item);
  const bool is_due = at_ < section_.items.size() && section_.items[at_].size == size;
  if (is_due) return AdvancePast(at_);
  is_lost_ = true;
  return std::nullopt;
}

void PlanCursor::Remember(Bytes size) {
  std::copy(recent_.begin() + 1, recent_.end(), recent_.begin());
  recent_.back() = size;
}

// Returns the item at which the last sizes end: the first one from the cursor on.
std::optional<size_t> PlanCursor::FindAhead() const {
  const uint64_t hash = HashOf([this](size_t i) { return recent_[i]; });
  const bool is_in_cycle = at_ >= section_.prologue;
  for (const size_t from : {at_, is_in_cycle ? section_.prologue : 0, size_t{0}}) {
    if (const auto item = FirstFrom(from, hash)) return item;
  }
  return std::nullopt;
}

std::optional<size_t> PlanCursor::FirstFrom(size_t item, uint64_t hash) const {
  const auto found = std::lower_bound(grams_.begin(), grams_.end(), Gram{hash, item});
  const bool is_found = found != grams_.end() && found->hash == hash &&
                        section_.items[found->last].size == recent_.back();
  return is_found ? std::optional(found->last) : std::nullopt;
}

Bytes PlanCursor::AdvancePast(size_t item) {
  at_ = item + 1;
  if (at_ == section_.items.size() && section_.cycle() > 0) at_ = section_.prologue;
  is_lost_ = false;
  return section_.items[item].offset;
}

}  // namespace memtrace
