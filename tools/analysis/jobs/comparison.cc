// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/comparison.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace memtrace::analysis {
namespace {

// One role at one site, in both processes.
struct Pair {
  uint64_t ours = 0;
  uint64_t theirs = 0;
  std::string line;
  bool is_of_loss = false;

  int64_t difference() const { return static_cast<int64_t>(ours - theirs); }
};

// True for the path of a module; other sites are lines, libraries, and words such as "(no stack)".
bool IsModule(const std::string& site) {
  return !site.empty() && site.front() != '(' && site.find_first_of(": ") == std::string::npos;
}

// Takes causes out of what two processes hold, until nothing is left.
class CauseFinder {
 public:
  CauseFinder(const ProcessView& ours, const ProcessView& theirs) : ours_(ours), theirs_(theirs) {
    for (const PeakHolder& holder : ours.holders) PairOf(holder).ours = holder.bytes;
    for (const PeakHolder& holder : theirs.holders) PairOf(holder).theirs = holder.bytes;
  }

  std::vector<PeakCause> Run(bool in_pipeline) {
    TakeModules();
    if (in_pipeline) TakeMicroBatches();
    TakeLoss();
    TakeLayers();
    TakeHolders();
    AddRest();
    std::stable_sort(causes_.begin(), causes_.end(), [](const PeakCause& a, const PeakCause& b) {
      return std::abs(a.bytes) > std::abs(b.bytes);
    });
    return std::move(causes_);
  }

 private:
  using Key = std::pair<trace::Role, std::string>;

  Pair& PairOf(const PeakHolder& holder) {
    Pair& pair = pairs_[{holder.role, holder.site}];
    if (pair.line.empty()) pair.line = holder.line;
    pair.is_of_loss = pair.is_of_loss || holder.is_of_loss;
    return pair;
  }
  void TakeModules();
  void TakeModule(const std::string& site);
  void TakeMicroBatches();
  int64_t TakeActivations(const MicroBatchesInFlight& flight, uint64_t Pair::*side);
  void TakeLoss();
  void TakeLayers();
  void TakeHolders();
  void AddRest();
  void Add(PeakCause cause) {
    if (cause.bytes != 0) causes_.push_back(std::move(cause));
  }

  const ProcessView& ours_;
  const ProcessView& theirs_;
  std::map<Key, Pair> pairs_;
  std::vector<PeakCause> causes_;
};

void CauseFinder::TakeModules() {
  std::map<std::string, Pair> sums;
  std::set<std::string> modules;
  for (const auto& [key, pair] : pairs_) {
    Pair& sum = sums[key.second];
    sum.ours += pair.ours;
    sum.theirs += pair.theirs;
    if (key.first == trace::Role::kParameter && IsModule(key.second)) modules.insert(key.second);
  }
  for (const std::string& module : modules)
    if (sums[module].ours == 0 || sums[module].theirs == 0) TakeModule(module);
}

void CauseFinder::TakeModule(const std::string& site) {
  PeakCause cause{.kind = PeakCause::Kind::kModule, .site = site, .line = {}};
  for (auto& [key, pair] : pairs_) {
    if (key.second != site) continue;
    cause.bytes += pair.difference();
    pair = {};
  }
  Add(std::move(cause));
}

void CauseFinder::TakeMicroBatches() {
  if (!ours_.in_flight || !theirs_.in_flight) return;
  if (ours_.in_flight->count == theirs_.in_flight->count) return;
  PeakCause cause{.kind = PeakCause::Kind::kMicroBatches, .site = {}, .line = {}};
  cause.count = ours_.in_flight->count;
  cause.other_count = theirs_.in_flight->count;
  cause.bytes = TakeActivations(*ours_.in_flight, &Pair::ours) -
                TakeActivations(*theirs_.in_flight, &Pair::theirs);
  Add(std::move(cause));
}

// Returns the bytes that were taken.
int64_t CauseFinder::TakeActivations(const MicroBatchesInFlight& flight, uint64_t Pair::*side) {
  uint64_t taken = 0;
  for (const auto& [site, bytes] : flight.by_site) {
    const auto found = pairs_.find({trace::Role::kActivation, site});
    if (found == pairs_.end()) continue;
    uint64_t& left = found->second.*side;
    const uint64_t part = std::min(left, bytes);
    left -= part;
    taken += part;
  }
  return static_cast<int64_t>(taken);
}

void CauseFinder::TakeLoss() {
  PeakCause cause{.kind = PeakCause::Kind::kLoss, .site = {}, .line = {}};
  uint64_t largest = 0;
  for (auto& [key, pair] : pairs_) {
    if (!pair.is_of_loss) continue;
    cause.bytes += pair.difference();
    if (const uint64_t bytes = std::max(pair.ours, pair.theirs); bytes > largest) {
      largest = bytes;
      cause.line = pair.line;
    }
    pair = {};
  }
  Add(std::move(cause));
}

void CauseFinder::TakeLayers() {
  for (const auto& [name, count] : ours_.layers) {
    const auto other = theirs_.layers.find(name);
    if (other == theirs_.layers.end() || other->second == count) continue;
    PeakCause cause{.kind = PeakCause::Kind::kLayers, .site = name, .line = {}};
    cause.count = count;
    cause.other_count = other->second;
    for (auto& [key, pair] : pairs_) {
      if (key.second != name && !key.second.starts_with(name + ".")) continue;
      cause.bytes += pair.difference();
      pair = {};
    }
    Add(std::move(cause));
  }
}

void CauseFinder::TakeHolders() {
  for (const auto& [key, pair] : pairs_) {
    Add({.kind = PeakCause::Kind::kHolder,
         .bytes = pair.difference(),
         .role = key.first,
         .site = key.second,
         .line = pair.line});
  }
}

// Events that were lost leave a peak that its holders do not sum to.
void CauseFinder::AddRest() {
  auto rest = static_cast<int64_t>(ours_.peak - theirs_.peak);
  for (const PeakCause& cause : causes_) rest -= cause.bytes;
  Add({.kind = PeakCause::Kind::kRest, .bytes = rest, .site = {}, .line = {}});
}

bool IsOfPipeline(const PeakHolder& holder) {
  constexpr std::array<std::string_view, 4> kFolders = {
      "torch/distributed/pipelining/", "torch/distributed/pipeline/", "deepspeed/runtime/pipe/",
      "megatron/core/pipeline_parallel/"};
  return std::any_of(kFolders.begin(), kFolders.end(), [&holder](std::string_view folder) {
    return holder.line.starts_with(folder) || holder.site.starts_with(folder);
  });
}

// Returns the kinds to compare with the one in the middle.
std::vector<size_t> KindsToExplain(const std::vector<ProcessView>& views,
                                   const std::vector<RankKind>& by_peak) {
  std::vector<size_t> processes = {by_peak.front().first(), by_peak.back().first()};
  for (const Outlier& outlier : FindOutliers(views)) {
    const auto kind =
        std::find_if(by_peak.begin(), by_peak.end(),
                     [&outlier](const RankKind& each) { return each.first() == outlier.process; });
    const bool is_new =
        std::find(processes.begin(), processes.end(), outlier.process) == processes.end();
    if (kind != by_peak.end() && is_new) processes.push_back(outlier.process);
  }
  return processes;
}

}  // namespace

Comparison Compare(const std::vector<ProcessView>& views, size_t process, size_t with,
                   bool in_pipeline) {
  const ProcessView& ours = views[process];
  const ProcessView& theirs = views[with];
  return {.process = process,
          .with = with,
          .bytes = static_cast<int64_t>(ours.peak - theirs.peak),
          .causes = CauseFinder(ours, theirs).Run(in_pipeline)};
}

bool IsPipeline(const std::vector<ProcessView>& views, const JobShape& shape) {
  if (shape.pipeline() != nullptr) return true;
  return std::any_of(views.begin(), views.end(), [](const ProcessView& view) {
    return std::any_of(view.holders.begin(), view.holders.end(), IsOfPipeline);
  });
}

std::vector<Comparison> ComparisonsOf(const std::vector<ProcessView>& views, const JobShape& shape,
                                      const std::vector<RankKind>& kinds) {
  constexpr size_t kMost = 4;
  std::vector<Comparison> comparisons;
  if (kinds.size() < 2) return comparisons;
  std::vector<RankKind> by_peak = kinds;
  std::stable_sort(by_peak.begin(), by_peak.end(), [&views](const RankKind& a, const RankKind& b) {
    return views[a.first()].peak > views[b.first()].peak;
  });
  const size_t middle = by_peak[by_peak.size() == 2 ? 1 : (by_peak.size() - 1) / 2].first();
  const bool in_pipeline = IsPipeline(views, shape);
  for (const size_t process : KindsToExplain(views, by_peak)) {
    if (process == middle || comparisons.size() == kMost) continue;
    Comparison comparison = Compare(views, process, middle, in_pipeline);
    const auto size = static_cast<uint64_t>(std::abs(comparison.bytes));
    if (size > 0 && size >= views[middle].peak / 100) comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace memtrace::analysis
