// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/rank_kinds.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace memtrace::analysis {
namespace {

// Returns a text that is the same for processes of one kind.
std::string FiguresOf(const ProcessView& view) {
  std::string figures;
  const auto add = [&figures](uint64_t figure) { figures += std::to_string(figure) + " "; };
  for (const uint64_t figure :
       {view.card_bytes, view.peak, view.allocated, view.reserved, view.used.value_or(0), view.nccl,
        view.context_bytes(), view.steps, uint64_t{view.first_failure.has_value()},
        uint64_t{view.end_is_known()}})
    add(figure);
  for (const Share& share : view.by_role) {
    figures += share.name + " ";
    add(share.bytes);
  }
  return figures + view.exception;
}

// Returns the number of ranks that each process stands for if no rank of the job is virtual, or if
// the trace states it.
std::optional<uint64_t> RanksAlike(const ProcessView& view, bool all_are_started) {
  if (view.run.ranks_alike > 0) return view.run.ranks_alike;
  if (all_are_started) return 1;
  return std::nullopt;
}

void CountRanks(const std::vector<ProcessView>& views, RankKind& kind) {
  const bool all_are_started = VirtualRanks(views) == 0;
  uint64_t ranks = 0;
  for (const size_t process : kind.processes) {
    const std::optional<uint64_t> alike = RanksAlike(views[process], all_are_started);
    if (!alike || *alike > WorldOf(views)) return;
    ranks += *alike;
  }
  kind.ranks = ranks;
}

std::tuple<double, uint64_t, uint64_t> FullnessOf(const ProcessView& view) {
  return {UsedShare(view).value_or(0), view.used.value_or(0), view.peak};
}

}  // namespace

std::optional<double> UsedShare(const ProcessView& view) {
  if (!view.used || view.card_bytes == 0) return std::nullopt;
  return static_cast<double>(*view.used) / static_cast<double>(view.card_bytes);
}

std::vector<RankKind> KindsOf(const std::vector<ProcessView>& views) {
  std::vector<RankKind> kinds;
  std::map<std::string, size_t> known;
  for (size_t i = 0; i < views.size(); ++i) {
    if (!views[i].is_readable() || !RankOf(views[i])) continue;
    const auto [kind, is_new] = known.try_emplace(FiguresOf(views[i]), kinds.size());
    if (is_new) kinds.emplace_back();
    kinds[kind->second].processes.push_back(i);
  }
  for (RankKind& kind : kinds) CountRanks(views, kind);
  const std::optional<uint64_t> ranks = RanksOfAll(kinds);
  if (!ranks || *ranks > WorldOf(views))  // some of them stand for the same ranks
    for (RankKind& kind : kinds) kind.ranks.reset();
  std::stable_sort(kinds.begin(), kinds.end(), [&views](const RankKind& a, const RankKind& b) {
    return FullnessOf(views[a.first()]) > FullnessOf(views[b.first()]);
  });
  return kinds;
}

std::optional<uint64_t> RanksOfAll(const std::vector<RankKind>& kinds) {
  if (kinds.empty()) return std::nullopt;
  uint64_t ranks = 0;
  for (const RankKind& kind : kinds) {
    if (!kind.ranks) return std::nullopt;
    ranks += *kind.ranks;
  }
  return ranks;
}

}  // namespace memtrace::analysis
