// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/job_ranks.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "interpose/simulated_card/spec/card_spec.h"

namespace memtrace::launch {
namespace {

constexpr int kMostRanks = 1 << 20;

std::optional<int> Number(const std::string& text) {
  int number = 0;
  const bool is_number = !text.empty() && std::all_of(text.begin(), text.end(), [](char digit) {
    return digit >= '0' && digit <= '9';
  }) && absl::SimpleAtoi(text, &number);
  return is_number ? std::optional(number) : std::nullopt;
}

absl::Status WorldError(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("--world: '", text, "' is not a number of ranks from 1 to ", kMostRanks,
                   "; write for example 512, or 64x8 for 64 machines of 8 cards"));
}

absl::StatusOr<int> CountCards(const std::vector<std::string>& specs) {
  std::vector<card::CardSpec> cards;
  std::string error;
  if (!card::ParseCardSpecs(absl::StrJoin(specs, ";"), &cards, &error))
    return absl::InvalidArgumentError(error);
  return static_cast<int>(cards.size());
}

// "64x8" states the cards of a machine again, so these have to agree.
absl::StatusOr<int> ParseWorld(const std::string& text, int cards) {
  const std::vector<std::string> factors = absl::StrSplit(text, 'x');
  const auto first = Number(factors.front());
  if (!first || *first < 1 || *first > kMostRanks || factors.size() > 2) return WorldError(text);
  if (factors.size() == 1) return *first;
  const auto second = Number(factors.back());
  if (!second || *second < 1 || *second > kMostRanks / *first) return WorldError(text);
  if (*second == cards) return *first * *second;
  return absl::InvalidArgumentError(
      absl::StrCat("--world ", text, " has ", *second, " ranks on a machine, but --card has ",
                   cards, "; write one card for each rank, as in --card ", *second, "xh100-80gb"));
}

absl::Status RanksError(const std::string& text) {
  return absl::InvalidArgumentError(absl::StrCat("--ranks: '", text,
                                                 "' is not a list of ranks; write for example "
                                                 "0,448 or 0-3, or auto for one of each kind"));
}

// Adds the ranks of "7" or "0-3".
absl::Status AddRanks(const std::string& text, const std::string& part, int world,
                      std::set<int>* ranks) {
  const std::vector<std::string> ends = absl::StrSplit(part, '-');
  const auto first = Number(ends.front());
  const auto last = Number(ends.back());
  if (!first || !last || ends.size() > 2 || *last < *first) return RanksError(text);
  if (*last >= world) {
    return absl::InvalidArgumentError(absl::StrCat("--ranks: rank ", *last,
                                                   " does not exist; --world ", world,
                                                   " has ranks 0 to ", world - 1));
  }
  for (int rank = *first; rank <= *last; ++rank) ranks->insert(rank);
  return absl::OkStatus();
}

}  // namespace

bool JobRanks::HasEachKind() const {
  const bool are_all_real = static_cast<int>(real.size()) == world;
  return are_all_real || std::accumulate(alike.begin(), alike.end(), int64_t{0}) == world;
}

int JobRanks::RanksOn(int machine) const { return std::min(cards, world - machine * cards); }

absl::StatusOr<JobRanks> ParseJobRanks(const std::string& world, const std::string& ranks,
                                       const std::vector<std::string>& cards) {
  if (world.empty())
    return absl::InvalidArgumentError("--ranks needs --world, the number of ranks of the job");
  if (cards.empty())
    return absl::InvalidArgumentError("--world needs the cards of one machine; add --card");
  JobRanks job;
  MEMTRACE_ASSIGN_OR_RETURN(job.cards, CountCards(cards));
  MEMTRACE_ASSIGN_OR_RETURN(job.world, ParseWorld(world, job.cards));
  job.is_auto = ranks == "auto" && job.world > 1;
  if (ranks == "auto") {
    job.real = {0};
    return job;
  }
  std::set<int> real;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(ranks.empty() ? "0" : ranks, ',')))
    MEMTRACE_RETURN_IF_ERROR(AddRanks(ranks, part, job.world, &real));
  job.real.assign(real.begin(), real.end());
  return job;
}

}  // namespace memtrace::launch
