// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/packing/search.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace memtrace::analysis {

PackingSearch::PackingSearch(absl::Span<const SectionItem> items, Bytes capacity,
                             PackingOrder order, uint64_t steps, FailedParts& failed)
    : items_(items),
      capacity_(capacity),
      order_(order),
      steps_(steps),
      failed_(failed),
      offsets_(items.size()) {
  Section sections = 0;
  for (const SectionItem& item : items) sections = std::max(sections, item.last);
  ends_.resize(sections);
}

PackingSearch::Outcome PackingSearch::Run() {
  OpenPart part;
  part.reserve(items_.size());
  for (uint32_t i = 0; i < items_.size(); ++i) {
    const SectionItem& item = items_[i];
    part.push_back({i, 0, item.first, item.last, item.size, 0, false});
  }
  part = Ranked(part);
  if (!Fits(part, 0)) return Outcome::kImpossible;
  return Place(std::move(part));
}

// A part is ordered by its own loads, not by those of the whole.
OpenPart PackingSearch::Ranked(const OpenPart& part) const {
  std::vector<SectionItem> items;
  items.reserve(part.size());
  for (const OpenItem& open : part) items.push_back(items_[open.index]);
  const std::vector<uint32_t> ranks = Ranks(items, order_);
  OpenPart ranked = part;
  for (size_t i = 0; i < part.size(); ++i) ranked[i].rank = ranks[i];
  std::sort(ranked.begin(), ranked.end(), [](const OpenItem& a, const OpenItem& b) {
    return a.low != b.low ? a.low < b.low : a.rank < b.rank;
  });
  return ranked;
}

PackingSearch::Outcome PackingSearch::Place(OpenPart part) {
  Spend(part.size());
  const FailedParts::Key key = FailedParts::KeyOf(part);
  if (failed_.Contains(key)) return Outcome::kImpossible;
  const Outcome outcome = PlaceNext(std::move(part));
  if (outcome == Outcome::kImpossible) failed_.Add(key);
  return outcome;
}

// Tries each item as the next one, from the lowest offset upwards. An item that has failed is
// barred: no packing has it there, so those after it need not be tried with it above them.
PackingSearch::Outcome PackingSearch::PlaceNext(OpenPart part) {
  Bytes lowest_end = std::numeric_limits<Bytes>::max();
  for (const OpenItem& item : part) lowest_end = std::min(lowest_end, item.end());
  // Above `lowest_end` there would be room for an item below the placed one.
  for (size_t i = 0; i < part.size() && part[i].low < lowest_end; ++i) {
    if (part[i].is_barred) continue;
    if (steps_ == 0) return Outcome::kOutOfSteps;
    offsets_[part[i].index] = part[i].low;
    OpenPart after = AfterPlacing(part, i);
    if (Fits(after, part[i].low)) {
      const Outcome outcome = PlaceParts(std::move(after));
      if (outcome != Outcome::kImpossible) return outcome;
    }
    if (!BlocksOtherItem(part, i)) return Outcome::kImpossible;  // it was in no other item's way
    part[i].is_barred = true;
    if (!Fits(part, part[i].low)) return Outcome::kImpossible;
  }
  return part.empty() ? Outcome::kFound : Outcome::kImpossible;
}

PackingSearch::Outcome PackingSearch::PlaceParts(OpenPart part) {
  std::vector<OpenPart> parts = SplitAtCuts(std::move(part));
  if (parts.size() == 1) return Place(std::move(parts.front()));
  for (const OpenPart& each : parts) {
    const Outcome outcome = Place(Ranked(each));
    if (outcome != Outcome::kFound) return outcome;
  }
  return Outcome::kFound;
}

// True if each section alone could take its open items when nothing more is placed below `floor`:
// in order of their lows, each as low as it can be, they end as low as is possible.
bool PackingSearch::Fits(const OpenPart& part, Bytes floor) {
  std::vector<std::pair<Bytes, const OpenItem*>> barred;
  for (const OpenItem& item : part) {
    if (!item.is_barred) continue;
    Spend(part.size());
    const Bytes low = LowestTop(part, item, floor);
    if (low > capacity_) return false;
    barred.emplace_back(low, &item);
  }
  std::sort(barred.begin(), barred.end());
  std::fill(ends_.begin(), ends_.end(), 0);
  auto next = barred.begin();
  for (const OpenItem& item : part) {
    if (item.is_barred) continue;
    for (; next != barred.end() && next->first <= item.low; ++next) {
      if (!AddToSections(*next->second, next->first)) return false;
    }
    if (!AddToSections(item, item.low)) return false;
  }
  return std::all_of(next, barred.end(), [this](const auto& low_and_item) {
    return AddToSections(*low_and_item.second, low_and_item.first);
  });
}

// Returns the lowest end of an item that could come to lie below the barred `item`.
Bytes PackingSearch::LowestTop(const OpenPart& part, const OpenItem& item, Bytes floor) const {
  Bytes lowest = std::numeric_limits<Bytes>::max();
  for (const OpenItem& other : part) {
    if (&other == &item || !ShareSection(item, other)) continue;
    lowest = std::min(lowest, std::max(other.low, floor) + other.size);
  }
  return lowest;
}

bool PackingSearch::AddToSections(const OpenItem& item, Bytes low) {
  Spend(1 + item.last - item.first);
  for (Section section = item.first; section < item.last; ++section) {
    Bytes& end = ends_[section];
    end = std::max(end, low) + item.size;
    if (end > capacity_) return false;
  }
  return true;
}

}  // namespace memtrace::analysis
