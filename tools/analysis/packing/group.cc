// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/group.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "tools/analysis/packing/failed_parts.h"
#include "tools/analysis/packing/order.h"
#include "tools/analysis/packing/search.h"
#include "tools/analysis/packing/skyline.h"

namespace memtrace::analysis {
namespace {

// The cost of FillSkyline() for one item, in looks of the search, which take about 1 ns.
constexpr uint64_t kFillSteps = 4096;
// The search keeps the open items of every depth: at 2048, up to 80 MiB.
constexpr size_t kMostSearchedItems = 2048;
// Far enough from overflow for any single addition.
constexpr Bytes kHighestSearched = std::numeric_limits<Bytes>::max() / 4;

void Spend(uint64_t used, uint64_t& steps) { steps -= std::min(used, steps); }

// An order that learns: an item that lay too high moves a tenth of its way towards the front.
class PromotingOrder {
 public:
  PromotingOrder(absl::Span<const SectionItem> items, PackingOrder order)
      : items_(items), ranks_(Ranks(items, order)), weights_(ranks_.begin(), ranks_.end()) {}

  const std::vector<uint32_t>& ranks() const { return ranks_; }

  void Promote(absl::Span<const Bytes> offsets, Bytes target) {
    for (size_t i = 0; i < items_.size(); ++i) {
      if (SaturatingAdd(offsets[i], items_[i].size) > target) weights_[i] = 0.9 * weights_[i] - 1;
    }
    std::vector<uint32_t> order(items_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [this](uint32_t a, uint32_t b) { return weights_[a] < weights_[b]; });
    for (uint32_t rank = 0; rank < order.size(); ++rank) ranks_[order[rank]] = rank;
  }

 private:
  absl::Span<const SectionItem> items_;
  std::vector<uint32_t> ranks_;
  std::vector<double> weights_;
};

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

// The orders take turns.
void GroupPacking::FillAndPromote(Bytes target, uint64_t& steps) {
  std::vector<PromotingOrder> orders;
  orders.reserve(kPackingOrders.size());
  for (const PackingOrder order : kPackingOrders) orders.emplace_back(items_, order);
  const uint64_t round = kFillSteps * items_.size();
  for (size_t turn = 0; height_ > target && steps >= round; ++turn) {
    PromotingOrder& order = orders[turn % orders.size()];
    std::vector<Bytes> offsets = FillSkyline(items_, order.ranks());
    order.Promote(offsets, target);
    Keep(std::move(offsets));
    Spend(round, steps);
  }
}

// The target itself gets half of the steps; each capacity tried after it, between it and the
// height, gets half of the rest.
void GroupPacking::Bisect(Bytes target, uint64_t& steps) {
  Bytes low = std::max(target, least_height_);  // lower ones are not tried any more
  for (Bytes capacity = low; low < height_ && steps >= look_steps_;) {
    uint64_t share = std::max(steps / 2, look_steps_);
    Spend(share, steps);
    const Answer answer = CanFit(capacity, share);
    steps += share;
    if (answer != Answer::kFits) low = (capacity / unit_ + 1) * unit_;
    if (answer == Answer::kImpossible) least_height_ = std::max(least_height_, low);
    capacity = low + (height_ - low) / 2;
  }
}

// Runs the search in every order, because no order is best for all inputs, each with few steps at
// first.
GroupPacking::Answer GroupPacking::CanFit(Bytes capacity, uint64_t& steps) {
  FailedParts failed;
  for (uint64_t limit = look_steps_ * items_.size(); steps > 0; limit *= 2) {
    for (const PackingOrder order : kPackingOrders) {
      const uint64_t given = std::min(limit, steps);
      PackingSearch search(items_, capacity, order, given, failed);
      const PackingSearch::Outcome outcome = search.Run();
      Spend(given - search.steps_left(), steps);
      if (outcome == PackingSearch::Outcome::kImpossible) return Answer::kImpossible;
      if (outcome == PackingSearch::Outcome::kOutOfSteps) continue;
      Keep(search.offsets());
      return Answer::kFits;
    }
  }
  return Answer::kUnknown;
}

}  // namespace memtrace::analysis
