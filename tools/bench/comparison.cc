// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/comparison.h"

#include <algorithm>
#include <utility>

namespace memtrace::bench {
namespace {

constexpr Bytes kLargestCard = Bytes{1} << 42;  // 4 TiB: an allocator that needs more has no answer

// Finds the smallest card that serves all requests, in whole granules, by bisection between the
// lower bound and a card that should be enough. A card a granule smaller does not serve them; an
// allocator may even crash there. One that hangs ends the search, because each play would take as
// long.
class CardSearch {
 public:
  explicit CardSearch(TriedAllocator& allocator) : allocator_(allocator) {}

  std::optional<Bytes> Smallest(Bytes lower_bound, Bytes enough) {
    if (std::optional<Bytes> known = allocator_.SmallestCard()) return known;
    Bytes fails = RoundDown(lower_bound - 1, kCardGranule);
    Bytes completes = RoundUp(std::max(enough, lower_bound), kCardGranule);
    while (!Completes(completes)) {
      fails = completes;
      completes += std::max(kCardGranule, RoundUp(completes / 32, kCardGranule));
      if (fault_ || completes > kLargestCard) return std::nullopt;
    }
    while (completes - fails > kCardGranule) {
      const Bytes middle = RoundDown(fails + (completes - fails) / 2, kCardGranule);
      (Completes(middle) ? completes : fails) = middle;
      if (fault_ && fault_->name == "hung") return std::nullopt;
    }
    return completes;
  }

  // The fault of a play that ended the search.
  const std::optional<Fault>& fault() const { return fault_; }

 private:
  bool Completes(Bytes card) {
    const PlayOutcome outcome = allocator_.PlayOn(card, /*stops=*/true, /*checks=*/false);
    fault_ = outcome.fault;
    return outcome.completed();
  }

  TriedAllocator& allocator_;
  std::optional<Fault> fault_;
};

void Measure(NamedAllocator& tried, Bytes lower_bound, const ComparisonSettings& settings,
             BenchRow& row) {
  TriedAllocator& allocator = *tried.allocator;
  row.on_books = !allocator.has_card();
  row.on_card = allocator.PlayOn(settings.card, /*stops=*/false, /*checks=*/true);
  row.fault = row.on_card.fault;
  if (row.fault) return;
  CardSearch search(allocator);
  row.smallest = search.Smallest(lower_bound, row.on_card.peak);
  if (!row.smallest) row.fault = search.fault();
  if (!row.smallest) return;
  row.on_smallest = allocator.PlayOn(*row.smallest, /*stops=*/true, /*checks=*/false);
  row.fault = row.on_smallest.fault;
}

// Returns a card on which no thread's copy of the requests can fail for memory; of a GPU, all that
// is free.
Bytes TimedCard(const ComparisonSettings& settings, const BenchRow& row, int threads) {
  if (!settings.gpu.empty()) return 0;
  return RoundUp(
      2 * std::max(row.on_card.peak, row.smallest.value_or(0)) * static_cast<Bytes>(threads) +
          4_GiB,
      kCardGranule);
}

void TimeOnce(NamedAllocator& tried, int threads, const ComparisonSettings& settings,
              BenchRow& row) {
  const Bytes card = TimedCard(settings, row, threads);
  const auto timed = tried.allocator->Time(card, threads, settings.seconds);
  if (!timed) return;
  if (timed->fault) {
    row.fault = timed->fault;
  } else {
    row.times[threads].push_back(timed->nanoseconds);
  }
}

}  // namespace

std::vector<BenchRow> Compare(std::vector<NamedAllocator>& tried, Bytes lower_bound,
                              const ComparisonSettings& settings) {
  std::vector<BenchRow> rows(tried.size());
  for (size_t i = 0; i < tried.size(); ++i) {
    rows[i].allocator = tried[i].name;
    Measure(tried[i], lower_bound, settings, rows[i]);
  }
  for (const int threads : settings.threads) {
    for (int round = 0; round < settings.repeat; ++round) {
      for (size_t i = 0; i < tried.size(); ++i)
        if (!rows[i].fault) TimeOnce(tried[i], threads, settings, rows[i]);
    }
  }
  return rows;
}

}  // namespace memtrace::bench
