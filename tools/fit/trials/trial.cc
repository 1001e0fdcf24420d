// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/trial.h"

#include <deque>
#include <fstream>

#include "base/environment.h"
#include "tools/fit/trials/card_limit.h"

namespace memtrace::fit {
namespace {

// Returns the figures of cards as those of each rank's card, if the trial is a job's.
std::vector<uint64_t> ByRank(const Trial& trial, std::vector<uint64_t> of_cards) {
  if (!trial.job || of_cards.empty()) return of_cards;
  std::vector<uint64_t> of_ranks;
  of_ranks.reserve(static_cast<size_t>(trial.job->world));
  for (int rank = 0; rank < trial.job->world; ++rank)
    of_ranks.push_back(of_cards[static_cast<size_t>(trial.job->CardOf(rank)) % of_cards.size()]);
  return of_ranks;
}

}  // namespace

bool MayBeForked(const Trial& trial, const FileKeeping& keeping) {
  return keeping.layer_bytes > 0 && !trial.job && trial.stub.empty() &&
         !env::Is(env::kFitForks, "0");
}

bool MayRunBesideOthers(const Trial& trial, const FileKeeping& keeping) {
  return keeping.layer_bytes > 0 && !trial.job;
}

std::vector<uint64_t> CardBytesOf(const Trial& trial) {
  return ByRank(trial, BytesOfCards(trial.cards));
}

std::vector<uint64_t> OthersOf(const Trial& trial) {
  return ByRank(trial, OthersOfCards(trial.cards));
}

std::string LogEnd(const TrialResult& result, size_t lines) {
  std::ifstream log(result.log);
  std::deque<std::string> last;
  for (std::string line; std::getline(log, line);) {
    last.push_back(line);
    if (last.size() > lines) last.pop_front();
  }
  std::string text;
  for (const std::string& line : last) text += line + "\n";
  return text;
}

}  // namespace memtrace::fit
