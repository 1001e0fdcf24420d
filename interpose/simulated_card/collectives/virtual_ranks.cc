// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/virtual_ranks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "base/environment.h"
#include "base/mutex.h"
#include "interpose/simulated_card/collectives/number_text.h"
#include "interpose/simulated_card/interface/card_ranges.h"

namespace memtrace::card {
namespace {

constexpr std::string_view kPrefix = "memtrace-ranks:";

// The contents of all ranks of a communicator that one call computes with: 16 MiB, if some of them
// are virtual. With those of each rank alone, 512 ranks would take 1 GiB of the host.
constexpr std::uint64_t kMostBytesOfAll = 16u << 20;

thread_local std::optional<PairPeer> pair_peer;

struct MadeUp {
  Mutex mutex;
  std::map<std::string, int, std::less<>> calls;  // guarded by mutex
};

// Never destroyed, because programs communicate until the very end.
MadeUp& OfProcess() {
  static auto* made_up = new MadeUp;
  return *made_up;
}

// Reads "0,3,448": ascending, below `size`.
std::optional<std::vector<int>> ParseList(std::string_view text, int size) {
  std::vector<int> ranks;
  while (true) {
    const auto rank = TakeNumber(&text);
    if (!rank || *rank >= size || (!ranks.empty() && *rank <= ranks.back())) return std::nullopt;
    ranks.push_back(*rank);
    if (text.empty()) return ranks;
    if (text.front() != ',') return std::nullopt;
    text.remove_prefix(1);
  }
}

// Returns nothing if `memtrace run --world` did not start this process.
std::optional<RealRanks> RanksOfJob() {
  std::string_view size = env::Text(env::kWorldSize);
  const std::optional<int> world = TakeNumber(&size);
  auto ranks = ParseList(env::Text(env::kRealRanks), world.value_or(0));
  if (!ranks) return std::nullopt;
  return RealRanks(*world, *std::move(ranks));
}

std::optional<RealRanks> OfPair(int rank) {
  if (!pair_peer) return std::nullopt;
  return pair_peer->is_real ? RealRanks(2) : RealRanks(2, {rank});
}

RankMachines MachinesOfPair(int rank, int cards) {
  std::vector<int> machines(2, pair_peer ? pair_peer->machine : OwnMachine(cards));
  machines[static_cast<std::size_t>(rank)] = OwnMachine(cards);
  return RankMachines(std::move(machines));
}

RankMachines MachinesOfJob(int size, int cards) {
  std::vector<int> machines(static_cast<std::size_t>(std::max(size, 0)));
  for (int rank = 0; rank < size; ++rank)
    machines[static_cast<std::size_t>(rank)] = rank / std::max(cards, 1);
  return RankMachines(std::move(machines));
}

std::optional<GroupRanks> Described(const ncclConfig_t* config) {
  const char* name = config == nullptr ? nullptr : config->netName;
  return ParseGroupRanks(name == nullptr ? "" : name);
}

}  // namespace

RealRanks::RealRanks(int size) : size_(size), real_(static_cast<std::size_t>(size)) {
  std::iota(real_.begin(), real_.end(), 0);
}

bool RealRanks::Contains(int rank) const {
  return std::binary_search(real_.begin(), real_.end(), rank);
}

int RealRanks::IndexOf(int rank) const {
  return static_cast<int>(std::lower_bound(real_.begin(), real_.end(), rank) - real_.begin());
}

int RealRanks::NearestTo(int rank) const {
  const auto above = std::lower_bound(real_.begin(), real_.end(), rank);
  if (above == real_.begin()) return *above;
  const int below = *(above - 1);
  return above == real_.end() || rank - below <= *above - rank ? below : *above;
}

std::optional<GroupRanks> ParseGroupRanks(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const auto size = TakeNumber(&text);
  if (!size || text.empty() || text.front() != ':') return std::nullopt;
  text.remove_prefix(1);
  const std::size_t colon = text.find(':');
  auto ranks = ParseList(text.substr(0, colon), *size);
  auto machines = colon == std::string_view::npos
                      ? std::optional(RankMachines::InOneMachine(*size))
                      : ParseRankMachines(text.substr(colon + 1), *size);
  if (!ranks || !machines) return std::nullopt;
  return GroupRanks{.real = RealRanks(*size, *std::move(ranks)), .machines = *std::move(machines)};
}

bool HasJobVirtualRanks() {
  static const bool kHasVirtual = [] {
    const auto job = RanksOfJob();
    return job && !job->AreAll();
  }();
  return kHasVirtual;
}

std::uint64_t MostExchangedBytes(const RealRanks& ranks) {
  if (ranks.AreAll()) return Part::kMostBytes;
  return std::min(Part::kMostBytes, kMostBytesOfAll / static_cast<std::uint64_t>(ranks.size()));
}

std::optional<RealRanks> FindRealRanks(const ncclConfig_t* config, int size, int rank) {
  const auto job = RanksOfJob();
  if (!job || job->AreAll() || size == 1) return RealRanks(size);
  if (const auto group = Described(config))
    return group->real.size() == size ? group->real : OfPair(rank);
  return size == job->size() ? job : std::nullopt;
}

std::optional<RankMachines> FindMachines(const ncclConfig_t* config, int size, int rank,
                                         int cards) {
  const auto job = RanksOfJob();
  if (!job || job->AreAll() || size == 1) return std::nullopt;
  if (const auto group = Described(config))
    return group->real.size() == size ? group->machines : MachinesOfPair(rank, cards);
  return MachinesOfJob(size, cards);
}

int OwnMachine(int cards) {
  std::string_view rank = env::Text(env::kRank);
  if (env::Text(env::kRealRanks).empty()) return 0;
  return TakeNumber(&rank).value_or(0) / std::max(cards, 1);
}

Parts WithVirtualRanks(const Parts& real_parts, const RealRanks& ranks) {
  Parts all;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const int source = ranks.NearestTo(rank);
    all.push_back(real_parts[static_cast<std::size_t>(ranks.IndexOf(source))]);
    if (source != rank) Assume(&all.back());
  }
  return all;
}

void Assume(Part* part) {
  for (char& known : part->known) known = std::min<char>(known, MEMTRACE_CARD_ASSUMED);
}

void SetPeer(std::optional<PairPeer> peer) { pair_peer = peer; }

void CountMadeUp(std::string_view call) {
  MadeUp& made_up = OfProcess();
  const MutexLock lock(made_up.mutex);
  ++made_up.calls[std::string(call)];
}

std::string MadeUpCalls() {
  MadeUp& made_up = OfProcess();
  const MutexLock lock(made_up.mutex);
  std::string list;
  for (const auto& [call, count] : made_up.calls)
    list += (list.empty() ? "" : ", ") + call + " " + std::to_string(count);
  return list;
}

}  // namespace memtrace::card
