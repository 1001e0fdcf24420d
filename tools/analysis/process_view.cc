// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/process_view.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "tools/analysis/holders/holder_lines.h"
#include "tools/analysis/holders/logits.h"
#include "tools/analysis/source/less.h"

namespace memtrace::analysis {
namespace {

std::optional<uint64_t> NumberIn(const std::string& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

uint64_t Median(std::vector<uint64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

uint64_t Distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

uint64_t BytesOf(const ProcessView& view, const std::string& role) {
  for (const Share& share : view.by_role)
    if (share.name == role) return share.bytes;
  return 0;
}

std::vector<size_t> Readable(const std::vector<ProcessView>& views) {
  std::vector<size_t> readable;
  for (size_t i = 0; i < views.size(); ++i)
    if (views[i].is_readable()) readable.push_back(i);
  return readable;
}

template <typename Figure>
std::vector<uint64_t> FiguresOf(const std::vector<ProcessView>& views,
                                const std::vector<size_t>& processes, const Figure& figure) {
  std::vector<uint64_t> figures;
  figures.reserve(processes.size());
  for (const size_t process : processes) figures.push_back(figure(views[process]));
  return figures;
}

Outlier Describe(const std::vector<ProcessView>& views, const std::vector<size_t>& processes,
                 size_t process, uint64_t median) {
  Outlier outlier{.process = process, .median = median, .roles = {}};
  std::set<std::string> roles;
  for (const size_t each : processes)
    for (const Share& share : views[each].by_role) roles.insert(share.name);
  for (const std::string& role : roles) {
    const uint64_t usual = Median(FiguresOf(
        views, processes, [&role](const ProcessView& view) { return BytesOf(view, role); }));
    const auto more = static_cast<int64_t>(BytesOf(views[process], role) - usual);
    if (more != 0) outlier.roles.emplace_back(role, more);
  }
  std::stable_sort(outlier.roles.begin(), outlier.roles.end(), [](const auto& a, const auto& b) {
    return std::abs(a.second) > std::abs(b.second);
  });
  return outlier;
}

// True if the largest part of the holding is logits or what a loss makes of them. Small blocks of a
// loss are its results.
bool IsOfLoss(const Holding& holding, const std::vector<trace::Frame>& stack) {
  constexpr uint64_t kSmallest = uint64_t{1} << 20;
  return holding.largest >= kSmallest && std::any_of(stack.begin(), stack.end(), IsOfLossFunction);
}

// Sums the holdings of one role at one site, of all models and owners.
std::vector<PeakHolder> HoldersOf(const Breakdown& peak, const EventSource& source) {
  const std::vector<HolderLine> lines = HolderLines(peak, source);
  std::map<std::pair<trace::Role, std::string>, PeakHolder> holders;
  for (size_t i = 0; i < peak.holdings.size(); ++i) {
    const Holding& holding = peak.holdings[i];
    PeakHolder& holder = holders[{holding.role, holding.site}];
    if (holder.bytes == 0) {  // the first is the largest
      holder = {.role = holding.role,
                .site = holding.site,
                .line = lines[i].line,
                .is_of_loss = IsOfLoss(holding, source.Stack(holding.stack))};
    }
    holder.bytes += holding.bytes;
  }
  std::vector<PeakHolder> sorted;
  sorted.reserve(holders.size());
  for (auto& [key, holder] : holders) sorted.push_back(std::move(holder));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const PeakHolder& a, const PeakHolder& b) { return a.bytes > b.bytes; });
  return sorted;
}

uint64_t UsedIn(const Ledger& ledger) {
  return Less(Less(ledger.total, ledger.positive(LedgerPart::kFree)),
              ledger.positive(LedgerPart::kOtherProcesses));
}

std::optional<uint64_t> MostUsed(const CardExplanation& card) {
  if (!card.ledger.total_known || card.ledger.total == 0) return std::nullopt;
  uint64_t used = UsedIn(card.ledger);
  for (const std::optional<CardMoment>& moment : {card.most_reserved, card.fullest})
    if (moment && moment->ledger.total_known) used = std::max(used, UsedIn(moment->ledger));
  return used;
}

uint64_t NcclBytesOf(const std::vector<OutsideHolding>& outside) {
  uint64_t bytes = 0;
  for (const LibraryBytes& library : LibrariesOf(outside))
    if (library.library == "NCCL") bytes += library.bytes;
  return bytes;
}

}  // namespace

Explanation ExplainFirstFailure(const EventSource& source) {
  auto failed = Explain(source, {MomentSpec::Kind::kFailure, 1});
  return failed.ok() ? *std::move(failed) : *Explain(source);
}

ProcessView ViewOf(const Explanation& explanation, const RunFacts& run, const EventSource& source) {
  const CardExplanation& card = explanation.card_of_verdict();
  ProcessView view;
  view.file = run.file;
  view.run = run;
  view.failures = explanation.run.counts.out_of_memory;
  if (explanation.failure.request) {
    view.first_failure = FirstFailure{.time_ns = card.when.time_ns,
                                      .verdict = explanation.failure.verdict,
                                      .at = explanation.failure.request->at};
  }
  view.card = card.index;
  view.card_bytes = card.ledger.total_known ? card.ledger.total : 0;
  view.peak = card.peak.bytes;
  view.peak_at = card.peak_at;
  view.by_role = card.peak.by_role;
  view.holders = HoldersOf(card.peak, source);
  view.in_flight = card.in_flight;
  view.layers = card.layers;
  view.used = MostUsed(card);
  view.nccl = NcclBytesOf(explanation.holders.outside);
  if (const auto found = explanation.timelines.find(card.index);
      found != explanation.timelines.end()) {
    view.allocated = found->second.most_allocated;
    view.reserved = found->second.most_reserved;
  }
  view.cards = explanation.cards.size();
  const EventCounts& counts = explanation.run.counts;
  view.steps = counts.trained_steps > 0 ? counts.trained_steps : counts.steps;
  view.exception = ExceptionThatEnded(explanation.run.annotations);
  for (const CardExplanation& each : explanation.cards)
    if (const uint64_t context = each.ledger.positive(LedgerPart::kContext); context > 0)
      view.contexts[each.index] = context;
  return view;
}

uint64_t WorldOf(const std::vector<ProcessView>& views) {
  constexpr uint64_t kMostRanks = 1'000'000;
  uint64_t world = 0;
  for (const ProcessView& view : views)
    if (view.is_readable()) world = std::max(world, NumberIn(view.run.world_size).value_or(0));
  return world > kMostRanks ? 0 : world;
}

std::optional<uint64_t> RankOf(const ProcessView& view) { return NumberIn(view.run.rank); }

uint64_t ProcessView::context_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [index, context] : contexts) bytes += context;
  return bytes;
}

void ArrangeProcesses(std::vector<ProcessView>& views) {
  const auto key = [](const ProcessView& view) {
    const std::optional<uint64_t> rank = NumberIn(view.run.rank);
    return std::tuple(!rank.has_value(), rank.value_or(0), view.file);
  };
  std::stable_sort(views.begin(), views.end(),
                   [&key](const ProcessView& a, const ProcessView& b) { return key(a) < key(b); });
  uint64_t earliest = ~uint64_t{0};
  for (const ProcessView& view : views)
    if (view.run.started_unix_ns != 0) earliest = std::min(earliest, view.run.started_unix_ns);
  for (ProcessView& view : views) {
    if (!view.first_failure) continue;
    const uint64_t start = view.run.started_unix_ns;
    view.first_failure->job_ns = (start == 0 ? 0 : start - earliest) + view.first_failure->time_ns;
  }
}

std::optional<size_t> FirstToFail(const std::vector<ProcessView>& views) {
  std::optional<size_t> first;
  for (size_t i = 0; i < views.size(); ++i) {
    const auto& failure = views[i].first_failure;
    if (failure && (!first || failure->job_ns < views[*first].first_failure->job_ns)) first = i;
  }
  return first;
}

std::vector<Outlier> FindOutliers(const std::vector<ProcessView>& views) {
  constexpr size_t kLeastProcesses = 3;
  const std::vector<size_t> processes = Readable(views);
  std::vector<Outlier> outliers;
  if (processes.size() < kLeastProcesses) return outliers;
  const auto peak = [](const ProcessView& view) { return view.peak; };
  const uint64_t median = Median(FiguresOf(views, processes, peak));
  const uint64_t usual = Median(FiguresOf(
      views, processes, [median](const ProcessView& view) { return Distance(view.peak, median); }));
  for (const size_t process : processes) {
    const uint64_t distance = Distance(views[process].peak, median);
    if (distance > 3 * usual && distance > median / 20)
      outliers.push_back(Describe(views, processes, process, median));
  }
  return outliers;
}

std::vector<uint64_t> MissingRanks(const std::vector<ProcessView>& views) {
  std::set<uint64_t> seen;
  std::set<uint64_t> started;
  for (const ProcessView& view : views) {
    if (!view.is_readable()) continue;
    if (const auto rank = NumberIn(view.run.rank)) seen.insert(*rank);
    started.insert(view.run.real_ranks.begin(), view.run.real_ranks.end());
  }
  if (seen.empty()) return {};
  if (started.empty())
    for (uint64_t rank = 0; rank < WorldOf(views); ++rank) started.insert(rank);
  std::vector<uint64_t> missing;
  std::set_difference(started.begin(), started.end(), seen.begin(), seen.end(),
                      std::back_inserter(missing));
  return missing;
}

uint64_t VirtualRanks(const std::vector<ProcessView>& views) {
  uint64_t ranks = 0;
  for (const ProcessView& view : views) {
    const uint64_t started = view.run.real_ranks.size();
    if (started > 0 && started < WorldOf(views)) ranks = WorldOf(views) - started;
  }
  return ranks;
}

}  // namespace memtrace::analysis
