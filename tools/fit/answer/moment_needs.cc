// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/answer/moment_needs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "profiler/trace/vocabulary/moments.h"
#include "tools/fit/answer/answer.h"

namespace memtrace::fit {
namespace {

// The order in a job's life.
constexpr std::string_view kOrder[] = {
    kUsualStep,
#define MEMTRACE_MOMENT(name, word, meaning) word,
#include "profiler/trace/vocabulary/moments.def"
#undef MEMTRACE_MOMENT
};

ptrdiff_t PlaceOf(const std::string& moment) {
  return std::find(std::begin(kOrder), std::end(kOrder), moment) - std::begin(kOrder);
}

std::vector<MomentStay> StaysOf(const ProcessNeed& process) {
  std::vector<MomentStay> stays;
  stays.reserve(process.moments.size());
  for (const MomentPeak& peak : process.moments) stays.push_back(peak.stay);
  return stays;
}

// A request that ended the run, and the moment in which it was made.
struct Failure {
  std::string moment;
  std::string line;
};

std::optional<Failure> FailureOf(const Outcome& outcome) {
  if (outcome.completed) return std::nullopt;
  for (const ProcessNeed& process : outcome.processes) {
    if (!process.failed || process.went_on) continue;
    const std::vector<MomentStay> stays = StaysOf(process);
    const int64_t stay = StayAt(stays, process.failed->at.step);
    return Failure{
        .moment = stay < 0 ? std::string(kUsualStep) : stays[static_cast<size_t>(stay)].moment,
        .line = process.failed->line};
  }
  for (const Outcome& resumed : outcome.resumed)
    if (const auto failed = resumed.Failed())
      return Failure{.moment = std::string(trace::moment::kResume), .line = failed->line};
  return std::nullopt;
}

// True if the run came to the end of the moment.
bool HasPassed(const Outcome& outcome, std::string_view moment) {
  if (moment == trace::moment::kResume)
    return !outcome.resumed.empty() && outcome.resumed.front().completed;
  return std::any_of(
      outcome.processes.begin(), outcome.processes.end(), [moment](const ProcessNeed& process) {
        return std::any_of(process.moments.begin(), process.moments.end(),
                           [moment](const MomentPeak& peak) {
                             return peak.stay.moment == moment && peak.stay.ended_by.empty();
                           });
      });
}

// Adds a moment, or makes the one that is there that of the larger need.
void Add(MomentNeed need, std::map<std::string, MomentNeed>& needs) {
  const auto [same, is_new] = needs.try_emplace(need.moment, need);
  if (is_new) return;
  if (same->second.failed_by_itself.empty()) same->second.failed_by_itself = need.failed_by_itself;
  if (need.needs <= same->second.needs) return;
  if (need.failed_by_itself.empty()) need.failed_by_itself = same->second.failed_by_itself;
  same->second = std::move(need);
}

void AddPeaks(const Outcome& outcome, std::map<std::string, MomentNeed>& needs) {
  for (const ProcessNeed& process : outcome.processes) {
    for (const MomentPeak& peak : process.moments) {
      const uint64_t unseen = UnseenBytes(peak.stay);
      MomentNeed need{.moment = peak.stay.moment, .size = peak.stay.size, .card = peak.card};
      need.needs = peak.needs + unseen;
      need.holder = peak.holder;
      need.holder.bytes += unseen;
      need.failed_by_itself = peak.stay.failed_by_itself;
      if (unseen > 0) {
        need.known = Known::kInferred;
        need.batches = peak.stay.batches;
        need.of = peak.stay.of;
      }
      Add(std::move(need), needs);
    }
  }
}

// Returns the largest holder; the names are those of CardNeed::sites.
Holder HolderOf(const std::vector<NeedPart>& sites) {
  HolderSums sums;
  for (const NeedPart& site : sites) {
    const size_t comma = site.name.find(", ");
    if (comma == std::string::npos) continue;
    sums.Add(site.name.substr(0, comma), site.name.substr(comma + 2), site.bytes);
  }
  return sums.Largest();
}

// Adds the largest need of a whole run as that of a moment.
void AddRun(const Outcome& outcome, std::string_view moment,
            std::map<std::string, MomentNeed>& needs) {
  for (const CardNeed& card : Joined(outcome.processes)) {
    MomentNeed need{.moment = std::string(moment), .card = card.card, .needs = card.total};
    need.holder = HolderOf(card.sites);
    Add(std::move(need), needs);
  }
}

std::map<std::string, MomentNeed> NeedsOf(const Outcome& job) {
  std::map<std::string, MomentNeed> needs;
  AddPeaks(job, needs);
  for (const Outcome& resumed : job.resumed) AddRun(resumed, trace::moment::kResume, needs);
  return needs;
}

uint64_t BytesOf(const std::vector<uint64_t>& card_bytes, int32_t card) {
  const auto index = static_cast<size_t>(card);
  return index < card_bytes.size() ? card_bytes[index] : 0;
}

// Decides if a moment that the job on the card passed, failed in or did not reach fits.
void Judge(const Answer& answer, const std::optional<Failure>& failure,
           const std::map<std::string, MomentNeed>& on_card, MomentNeed& need) {
  const uint64_t has = BytesOf(answer.card_bytes, need.card);
  const Outcome& within = answer.whole_job->within;
  if (failure && failure->moment == need.moment) {
    need.fits = false;
    need.line = failure->line;
    need.known = Known::kExact;
    return;
  }
  if (!HasPassed(within, need.moment)) {
    need.fits = need.needs <= has;
    need.known = Known::kInferred;
    return;
  }
  // A program that takes more if there is more needs what it took on the card.
  const auto run = on_card.find(need.moment);
  if (need.needs > has && need.of == 0 && run != on_card.end()) need.needs = run->second.needs;
  need.fits = need.of == 0 || need.needs <= has;
}

// True if sizes follow from a router's choice. All needs are then those of an even one, which is
// assumed. What fails with it fails with any other, too.
bool FollowsFromRouting(const Answer& answer, const std::map<std::string, MomentNeed>& needs) {
  return needs.contains(std::string(trace::moment::kRouting)) ||
         std::any_of(answer.gaps.begin(), answer.gaps.end(),
                     [](const Gap& gap) { return gap.moment == trace::moment::kRouting; });
}

}  // namespace

std::string_view KnownName(Known known) {
  switch (known) {
    case Known::kExact:
      return "exact";
    case Known::kInferred:
      return "inferred";
    case Known::kAssumed:
      break;
  }
  return "assumed";
}

std::vector<MomentNeed> MomentNeedsOf(const Answer& answer) {
  const WholeJob& job = *answer.whole_job;
  std::map<std::string, MomentNeed> needs = NeedsOf(job.unlimited);
  AddRun(answer.unlimited, kUsualStep, needs);
  if (answer.has_within) {
    std::optional<Failure> failure = FailureOf(answer.within);
    if (failure) failure->moment = kUsualStep;
    if (!failure && job.has_within) failure = FailureOf(job.within);
    const std::map<std::string, MomentNeed> on_card = NeedsOf(job.within);
    const bool has_choice = FollowsFromRouting(answer, needs);
    for (auto& [moment, need] : needs) {
      if (moment == kUsualStep && !(failure && failure->moment == kUsualStep)) {
        need.fits = true;  // the steps that were seen on the card, without which nothing is decided
      } else {
        Judge(answer, failure, on_card, need);
      }
      // The sizes of routing follow from a policy's choice.
      if (moment == trace::moment::kRouting || (has_choice && need.fits.value_or(false)))
        need.known = Known::kAssumed;
    }
  }
  std::vector<MomentNeed> sorted;
  sorted.reserve(needs.size());
  for (auto& [moment, need] : needs) sorted.push_back(std::move(need));
  std::stable_sort(sorted.begin(), sorted.end(), [](const MomentNeed& a, const MomentNeed& b) {
    return PlaceOf(a.moment) < PlaceOf(b.moment);
  });
  return sorted;
}

std::optional<MomentNeed> LimitingMomentOf(const Outcome& run,
                                           const std::vector<uint64_t>& card_bytes) {
  std::map<std::string, MomentNeed> needs = NeedsOf(run);
  if (const auto failure = FailureOf(run)) {
    MomentNeed need{.moment = failure->moment};
    if (const auto seen = needs.find(failure->moment); seen != needs.end()) need = seen->second;
    need.fits = false;
    need.line = failure->line;
    need.known = Known::kExact;
    return need;
  }
  std::optional<MomentNeed> most;
  for (const auto& [moment, need] : needs) {
    const bool is_short = need.of > 0 && need.needs > BytesOf(card_bytes, need.card);
    if (is_short && (!most || need.needs > most->needs)) most = need;
  }
  if (most) most->fits = false;
  return most;
}

const MomentNeed* FailedMomentOf(const std::vector<MomentNeed>& moments) {
  const MomentNeed* worst = nullptr;
  for (const MomentNeed& moment : moments) {
    if (moment.fits.value_or(true)) continue;
    // A moment that failed on the card comes before one that is inferred to fail.
    const bool is_worse =
        worst == nullptr || (worst->known != Known::kExact && moment.known == Known::kExact);
    if (is_worse) worst = &moment;
  }
  return worst;
}

}  // namespace memtrace::fit
