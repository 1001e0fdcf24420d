// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/virtual_ranks.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <string>

#include "base/environment.h"
#include "base/mutex.h"
#include "interpose/simulated_card/interface/card_ranges.h"

namespace memtrace::card {
namespace {

constexpr std::string_view kPrefix = "memtrace-ranks:";

thread_local std::optional<bool> peer_is_real;

struct MadeUp {
  Mutex mutex;
  std::map<std::string, int, std::less<>> calls;  // guarded by mutex
};

// Never destroyed, because programs communicate until the very end.
MadeUp& OfProcess() {
  static auto* made_up = new MadeUp;
  return *made_up;
}

// Takes a number from the beginning of the text.
std::optional<int> TakeNumber(std::string_view* text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text->remove_prefix(static_cast<std::size_t>(end - text->data()));
  return number;
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
  if (!peer_is_real) return std::nullopt;
  return *peer_is_real ? RealRanks(2) : RealRanks(2, {rank});
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

std::optional<RealRanks> ParseRealRanks(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  const auto size = TakeNumber(&text);
  if (!size || text.empty() || text.front() != ':') return std::nullopt;
  auto ranks = ParseList(text.substr(1), *size);
  if (!ranks) return std::nullopt;
  return RealRanks(*size, *std::move(ranks));
}

std::optional<RealRanks> FindRealRanks(const ncclConfig_t* config, int size, int rank) {
  const auto job = RanksOfJob();
  if (!job || job->AreAll() || size == 1) return RealRanks(size);
  const char* name = config == nullptr ? nullptr : config->netName;
  if (const auto group = ParseRealRanks(name == nullptr ? "" : name))
    return group->size() == size ? group : OfPair(rank);
  return size == job->size() ? job : std::nullopt;
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

void SetPeer(std::optional<bool> is_real) { peer_is_real = is_real; }

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
