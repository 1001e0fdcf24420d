// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/jobs/rank_grid.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace memtrace::analysis {
namespace {

// Returns how many ranks a machine has: the cards of a simulated one, else the most ranks whose
// traces name the same host.
uint64_t RanksOfMachine(const Job& job, uint64_t world) {
  std::map<std::string, uint64_t> by_host;
  uint64_t cards = 0;
  bool is_simulated = false;
  for (const ProcessView& view : job.processes) {
    if (!view.is_readable()) continue;
    is_simulated = is_simulated || view.run.simulated;
    cards = std::max(cards, view.cards);
    ++by_host[view.run.host];
  }
  if (is_simulated) return std::clamp<uint64_t>(cards, 1, world);
  uint64_t most = 1;
  for (const auto& [host, ranks] : by_host) most = std::max(most, ranks);
  return std::min(most, world);
}

// Finds the rank that stands for another: the one that is at its place in each dimension in which
// the ranks with traces differ. In a dimension of which only some places have such a rank, the
// lowest of them stands for the places without one.
class StandIns {
 public:
  explicit StandIns(const Job& job) : job_(job) {
    for (size_t i = 0; i < job.processes.size(); ++i)
      if (job.processes[i].is_readable())
        if (const auto rank = RankOf(job.processes[i])) processes_[*rank] = i;
    for (const JobDimension& dimension : job.shape.dimensions) {
      std::set<uint64_t> places;
      for (const auto& [rank, process] : processes_) places.insert(dimension.PlaceOf(rank));
      if (places.size() > 1) differing_.emplace_back(dimension, std::move(places));
    }
    for (const auto& [rank, process] : processes_) by_places_.try_emplace(PlacesOf(rank), process);
  }

  const std::map<uint64_t, size_t>& processes() const { return processes_; }

  // Returns the process that stands for each rank; empty unless the traces say the same numbers.
  std::vector<size_t> OfAllRanks(uint64_t world) const {
    std::vector<size_t> all;
    std::map<size_t, uint64_t> counts;
    for (uint64_t rank = 0; rank < world; ++rank) {
      const auto own = processes_.find(rank);
      const auto found = by_places_.find(PlacesOf(rank));
      if (own == processes_.end() && found == by_places_.end()) return {};
      all.push_back(own == processes_.end() ? found->second : own->second);
      ++counts[all.back()];
    }
    const bool agree = std::all_of(processes_.begin(), processes_.end(), [&](const auto& each) {
      return job_.processes[each.second].run.ranks_alike == counts[each.second];
    });
    return agree ? all : std::vector<size_t>();
  }

 private:
  using Places = std::vector<uint64_t>;

  Places PlacesOf(uint64_t rank) const {
    Places result;
    for (const auto& [dimension, places] : differing_) {
      const uint64_t place = dimension.PlaceOf(rank);
      result.push_back(places.contains(place) ? place : *places.begin());
    }
    return result;
  }

  const Job& job_;
  std::map<uint64_t, size_t> processes_;  // by rank
  std::vector<std::pair<JobDimension, std::set<uint64_t>>> differing_;
  std::map<Places, size_t> by_places_;
};

// Returns the kind of each process, -1 without one.
std::vector<int32_t> KindsByProcess(const Job& job) {
  std::vector<int32_t> kinds(job.processes.size(), -1);
  for (size_t kind = 0; kind < job.kinds.size(); ++kind)
    for (const size_t process : job.kinds[kind].processes)
      kinds[process] = static_cast<int32_t>(kind);
  return kinds;
}

void FillIn(const Job& job, RankGrid& grid) {
  const StandIns stand_ins(job);
  const std::vector<int32_t> kinds = KindsByProcess(job);
  grid.kinds.assign(grid.world, -1);
  grid.processes.assign(grid.world, -1);
  const std::vector<size_t> all = stand_ins.OfAllRanks(grid.world);
  for (uint64_t rank = 0; rank < all.size(); ++rank) grid.kinds[rank] = kinds[all[rank]];
  for (const auto& [rank, process] : stand_ins.processes()) {
    if (rank >= grid.world) continue;
    grid.kinds[rank] = kinds[process];
    grid.processes[rank] = static_cast<int32_t>(process);
  }
}

// True if processes of different kinds are at different places of the dimension.
bool KindsDifferIn(const Job& job, const JobDimension& dimension) {
  std::set<uint64_t> places;
  for (const RankKind& kind : job.kinds)
    if (const auto rank = RankOf(job.processes[kind.first()]))
      places.insert(dimension.PlaceOf(*rank));
  return places.size() > 1;
}

RankGrid ByMachine(const Job& job) {
  const uint64_t world = job.shape.world;
  const uint64_t cards = RanksOfMachine(job, world);
  RankGrid grid;
  grid.world = world;
  grid.by_machine = true;
  grid.rows = {.name = "", .size = (world + cards - 1) / cards, .stride = cards};
  grid.columns.push_back({.name = "", .size = cards, .stride = 1});
  return grid;
}

RankGrid ByDimension(const Job& job, std::vector<JobDimension> dimensions) {
  const auto rows = std::max_element(
      dimensions.begin(), dimensions.end(), [&job](const JobDimension& a, const JobDimension& b) {
        return std::pair(KindsDifferIn(job, a), a.size) < std::pair(KindsDifferIn(job, b), b.size);
      });
  RankGrid grid;
  grid.world = job.shape.world;
  grid.rows = *rows;
  dimensions.erase(rows);
  grid.columns = std::move(dimensions);
  return grid;
}

}  // namespace

uint64_t RankGrid::column_count() const {
  uint64_t count = 1;
  for (const JobDimension& dimension : columns) count *= dimension.size;
  return count;
}

std::optional<uint64_t> RankGrid::RankAt(uint64_t row, uint64_t column) const {
  uint64_t rank = row * rows.stride;
  for (auto dimension = columns.rbegin(); dimension != columns.rend(); ++dimension) {
    rank += column % dimension->size * dimension->stride;
    column /= dimension->size;
  }
  if (rank >= world) return std::nullopt;
  return rank;
}

std::optional<RankGrid> GridOf(const Job& job) {
  if (job.shape.world < 2 || job.kinds.empty()) return std::nullopt;
  std::vector<JobDimension> dimensions = job.shape.Whole();
  const bool is_known = !job.shape.dimensions.empty() && dimensions.size() > 1;
  RankGrid grid = is_known ? ByDimension(job, std::move(dimensions)) : ByMachine(job);
  FillIn(job, grid);
  return grid;
}

}  // namespace memtrace::analysis
