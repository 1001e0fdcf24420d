// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing_group.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "tools/analysis/packing_failed_parts.h"
#include "tools/analysis/packing_order.h"
#include "tools/analysis/packing_search.h"
#include "tools/analysis/packing_skyline.h"

namespace memtrace::analysis {
namespace {

// What FillSkyline() costs for one item, in looks of the search, which take about 1 ns.
constexpr uint64_t kFillSteps = 4096;
// The search keeps the open items of every depth: at 2048, up to 80 MiB.
constexpr size_t kMostSearchedItems = 2048;
// Far from overflow, whatever is added once.
constexpr Bytes kHighestSearched = std::numeric_limits<Bytes>::max() / 4;

void Spend(uint64_t used, uint64_t& steps) { steps -= std::min(used, steps); }

// Ranks that put the items that lie too high a tenth of their way nearer to the front.
std::vector<uint32_t> Promoted(absl::Span<const SectionItem> items, absl::Span<const Bytes> offsets,
                               Bytes target, std::vector<double>& weights) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (SaturatingAdd(offsets[i], items[i].size) > target) weights[i] = 0.9 * weights[i] - 1;
  }
  std::vector<uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&weights](uint32_t a, uint32_t b) { return weights[a] < weights[b]; });
  std::vector<uint32_t> ranks(items.size());
  for (uint32_t rank = 0; rank < order.size(); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

}  // namespace

GroupPacking::GroupPacking(absl::Span<const SectionItem> items, uint64_t& steps)
    : items_(items), height_(std::numeric_limits<Bytes>::max()), least_height_(HighestLoad(items)) {
  for (const SectionItem& item : items) {
    unit_ = std::gcd(unit_, item.size);
    look_steps_ += 1 + item.last - item.first;
  }
  FillInOrders(steps);
}

void GroupPacking::Keep(std::vector<Bytes> offsets) {
  Bytes height = 0;
  for (size_t i = 0; i < items_.size(); ++i) {
    height = std::max(height, SaturatingAdd(offsets[i], items_[i].size));
  }
  if (height >= height_ && !offsets_.empty()) return;
  height_ = height;
  offsets_ = std::move(offsets);
}

void GroupPacking::FillInOrders(uint64_t& steps) {
  for (const PackingOrder order : kPackingOrders) {
    Keep(FillSkyline(items_, Ranks(items_, order)));
    Spend(kFillSteps * items_.size(), steps);
    if (height_ <= least_height_) return;
  }
}

void GroupPacking::Improve(Bytes target, uint64_t& steps) {
  if (items_.size() <= kMostSearchedItems && height_ < kHighestSearched) {
    Bisect(target, steps);
  } else {
    FillAndPromote(target, steps);
  }
}

void GroupPacking::FillAndPromote(Bytes target, uint64_t& steps) {
  std::vector<uint32_t> ranks = Ranks(items_, kPackingOrders.front());
  std::vector<double> weights(ranks.begin(), ranks.end());
  const uint64_t round = kFillSteps * items_.size();
  while (height_ > target && steps >= round) {
    std::vector<Bytes> offsets = FillSkyline(items_, ranks);
    ranks = Promoted(items_, offsets, target, weights);
    Keep(std::move(offsets));
    Spend(round, steps);
  }
}

// The target itself has half of the steps; each capacity between it and the height that follows,
// half of the rest.
void GroupPacking::Bisect(Bytes target, uint64_t& steps) {
  Bytes low = std::max(target, least_height_);  // lower ones are not asked for any more
  for (Bytes capacity = low; low < height_ && steps >= look_steps_;) {
    uint64_t share = std::max(steps / 2, look_steps_);
    Spend(share, steps);
    const Answer answer = CanFit(capacity, share);
    steps += share;
    if (answer != Answer::kYes) low = (capacity / unit_ + 1) * unit_;
    if (answer == Answer::kNo) least_height_ = std::max(least_height_, low);
    capacity = low + (height_ - low) / 2;
  }
}

// Asks the search in every order, as no order is best for all inputs, each with few steps at first.
GroupPacking::Answer GroupPacking::CanFit(Bytes capacity, uint64_t& steps) {
  FailedParts failed;
  for (uint64_t limit = look_steps_ * items_.size(); steps > 0; limit *= 2) {
    for (const PackingOrder order : kPackingOrders) {
      const uint64_t given = std::min(limit, steps);
      PackingSearch search(items_, capacity, order, given, failed);
      const PackingSearch::Outcome outcome = search.Run();
      Spend(given - search.steps_left(), steps);
      if (outcome == PackingSearch::Outcome::kImpossible) return Answer::kNo;
      if (outcome == PackingSearch::Outcome::kOutOfSteps) continue;
      Keep(search.offsets());
      return Answer::kYes;
    }
  }
  return Answer::kUnknown;
}

}  // namespace memtrace::analysis
