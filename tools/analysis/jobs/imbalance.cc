// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/imbalance.h"

#include <algorithm>
#include <map>

namespace memtrace::analysis {
namespace {

// True if the trace has all that the process held.
bool IsComplete(const ProcessView& view) {
  return view.is_readable() && view.end_is_known() && !view.first_failure && view.exception.empty();
}

// Returns the mean of the peaks of the stages. Each stage counts with its fullest rank.
std::optional<uint64_t> MeanOfStages(const std::vector<ProcessView>& views,
                                     const JobDimension& pipeline) {
  std::map<uint64_t, uint64_t> peaks;  // by stage
  for (const ProcessView& view : views) {
    const std::optional<uint64_t> rank = RankOf(view);
    if (!rank) continue;
    uint64_t& peak = peaks[pipeline.PlaceOf(*rank)];
    peak = std::max(peak, view.peak);
  }
  if (peaks.size() != pipeline.size) return std::nullopt;
  uint64_t mean = 0;
  for (const auto& [stage, peak] : peaks) mean += peak / pipeline.size;
  return mean;
}

}  // namespace

std::optional<Imbalance> ImbalanceOf(const std::vector<ProcessView>& views, const JobShape& shape,
                                     const std::vector<RankKind>& kinds) {
  if (kinds.size() < 2 || !std::all_of(views.begin(), views.end(), IsComplete)) return std::nullopt;
  const auto [least, most] = std::minmax_element(
      kinds.begin(), kinds.end(), [&views](const RankKind& a, const RankKind& b) {
        return views[a.first()].peak < views[b.first()].peak;
      });
  Imbalance imbalance;
  imbalance.most = most->first();
  imbalance.least = least->first();
  imbalance.bytes = views[imbalance.most].peak - views[imbalance.least].peak;
  if (imbalance.bytes == 0 || imbalance.bytes < views[imbalance.most].peak / 100)
    return std::nullopt;
  if (const JobDimension* pipeline = shape.pipeline())
    imbalance.balanced = MeanOfStages(views, *pipeline);
  return imbalance;
}

}  // namespace memtrace::analysis
