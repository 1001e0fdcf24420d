// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/cheapest/plan_space.h"

#include <algorithm>
#include <utility>

#include "base/host_memory.h"

namespace memtrace::fit {
namespace {

using remedies::Effort;
using remedies::Step;
using trace::Phase;

// The pieces of logits that a report suggests also.
constexpr uint32_t kUsualPieces = 8;

uint32_t KindOf(Effort effort) {
  if (effort == Effort::kMoney) return 2;
  return effort == Effort::kResults ? 1 : 0;
}

size_t CardThatIsShortest(const Answer& answer) {
  size_t shortest = 0;
  int64_t most = INT64_MIN;
  for (const CardNeed& need : Joined(answer.unlimited.processes)) {
    const auto card = static_cast<size_t>(need.card);
    if (card >= answer.card_bytes.size()) continue;
    const auto lacks =
        static_cast<int64_t>(need.total) - static_cast<int64_t>(answer.card_bytes[card]);
    if (lacks <= most) continue;
    most = lacks;
    shortest = card;
  }
  return shortest;
}

// Returns the bytes of each phase, with what the process holds beside the allocator.
PhaseNeeds NeedsOf(const CardNeed& need) {
  PhaseNeeds needs = {};
  const uint64_t beside = need.total - std::min(need.total, need.peak_allocated);
  for (size_t phase = 0; phase < needs.size(); ++phase) {
    if (need.phase_peaks[phase] == 0) continue;
    double& of = needs[PlannedPhase(static_cast<Phase>(phase))];
    of = std::max(of, static_cast<double>(need.phase_peaks[phase] + beside));
  }
  return needs;
}

// Returns the memory that each degree saves, in any unit: of M parts one is needed at a time.
std::vector<double> SavingsOf(const Candidate& candidate, const std::vector<uint32_t>& ladder) {
  std::vector<double> savings;
  savings.reserve(ladder.size());
  for (const uint32_t degree : ladder) {
    const double number = std::max<uint32_t>(degree, 1);
    savings.push_back(candidate.degrees.step == Step::kDoubling ? 1 - 1 / number : number);
  }
  return savings;
}

// Returns the time that each degree takes, in any unit.
std::vector<double> TimesOf(const Candidate& candidate, const std::vector<uint32_t>& ladder) {
  std::vector<double> times;
  times.reserve(ladder.size());
  for (const uint32_t degree : ladder) {
    const double number = std::max<uint32_t>(degree, 1);
    times.push_back(candidate.degrees.step == Step::kDoubling ? number - 1 : number);
  }
  return times;
}

// Returns the place of a degree, from 1 on; of one that is not there the last, because without a
// degree a hook changes all places.
uint32_t IndexOf(uint32_t degree, const std::vector<uint32_t>& ladder) {
  const auto place = std::find(ladder.begin(), ladder.end(), degree);
  if (place == ladder.end()) return static_cast<uint32_t>(ladder.size());
  return static_cast<uint32_t>(place - ladder.begin()) + 1;
}

// Returns the least ratio of time if nothing hides the copies between host and card that the
// changes add: hooks make them in the stream that computes.
double LeastByCopies(const Outcome& unchanged, const Outcome& changed) {
  constexpr double kBytesEachMicrosecond = 55e3;  // pinned; whole-job.md, "How long a step takes"
  const uint64_t before = unchanged.cost().host_copy_bytes;
  const uint64_t after = changed.cost().host_copy_bytes;
  constexpr uint64_t kFew = uint64_t{1} << 20;
  if (after < before + kFew) return 0;
  const auto more = static_cast<double>(after - before);
  return 1 + more / kBytesEachMicrosecond / unchanged.time()->microseconds();
}

}  // namespace

size_t PlannedPhase(Phase phase) {
  return static_cast<size_t>(phase == Phase::kRecompute ? Phase::kBackward : phase);
}

std::vector<uint32_t> LadderOf(const Candidate& candidate) {
  const remedies::Degrees& degrees = candidate.degrees;
  std::vector<uint32_t> ladder;
  if (degrees.step == Step::kByOne) {
    for (uint32_t degree = 1; degree <= candidate.of; ++degree) ladder.push_back(degree);
  } else if (degrees.step == Step::kDoubling && degrees.strongest == 0) {
    // The parts are of equal size, so that the product of the two numbers stays the same.
    for (uint32_t degree = degrees.weakest; degree <= candidate.of; ++degree)
      if (candidate.of % degree == 0) ladder.push_back(degree);
  } else if (degrees.step == Step::kDoubling) {
    for (uint32_t degree = degrees.weakest; degree <= degrees.strongest; degree *= 2)
      ladder.push_back(degree);
  }
  return ladder.empty() ? std::vector<uint32_t>{0} : ladder;
}

void KeepWithinHost(uint64_t each, uint64_t available, std::vector<uint32_t>& ladder) {
  if (each == 0 || available == 0) return;
  const uint64_t most = available / 5 * 4 / each;
  ladder.erase(std::upper_bound(ladder.begin(), ladder.end(), most), ladder.end());
}

std::vector<uint32_t> LadderWithinHost(const Candidate& candidate, const Outcome& unchanged,
                                       const Outcome& one_place) {
  std::vector<uint32_t> ladder = LadderOf(candidate);
  if (!IsDearOnHost(candidate)) return ladder;
  const uint64_t before = unchanged.cost().host_memory_bytes;
  const uint64_t after = one_place.cost().host_memory_bytes;
  KeepWithinHost(after - std::min(after, before), ReadHostMemory().available, ladder);
  return ladder;
}

bool IsDearOnHost(const Candidate& candidate) {
  return candidate.degrees.id == remedies::Id::kActivationsOnHost;
}

uint32_t DegreeAlone(const Candidate& candidate) {
  if (IsDearOnHost(candidate)) return 1;
  if (candidate.degrees.id == remedies::Id::kLogitsInPieces) return kUsualPieces;
  return candidate.degrees.step == Step::kDoubling ? candidate.degrees.weakest : 0;
}

PlanSpace::PlanSpace(const Answer& answer) : answer_(answer), card_(CardThatIsShortest(answer)) {
  if (const auto figures = FiguresOf(*answer.reference)) unchanged_ = *figures;
  for (const TriedRemedy& tried : answer.remedies)
    if (!tried.is_smaller_card) AddAlone(tried);
  for (const TriedRemedy& tried : answer.measured) AddAlone(tried);
}

void PlanSpace::AddAlone(const TriedRemedy& tried) {
  const bool is_alone = tried.changes.size() == 1 && tried.had_effect;
  if (!is_alone || !tried.changes.front().option.empty() || PlanOf(tried.changes)) return;
  Add(tried.changes.front(), tried.outcome);
}

// Another allocator alone changes what is reserved, not what the program needs.
void PlanSpace::Add(const Candidate& candidate, const Outcome& outcome) {
  PlanChange change;
  change.changes_allocator = candidate.hook.empty();
  const std::optional<PlanFigures> alone = FiguresOf(outcome);
  if (!alone && !change.changes_allocator) return;
  const std::vector<uint32_t> ladder = LadderWithinHost(candidate, *answer_.reference, outcome);
  if (ladder.empty()) return;
  change.saves = SavingsOf(candidate, ladder);
  change.takes = TimesOf(candidate, ladder);
  change.kind = KindOf(candidate.effort);
  change.effort = static_cast<uint32_t>(candidate.effort);
  for (size_t other = 0; other < candidates_.size(); ++other) {
    if (!AreInConflict(candidate, candidates_[other])) continue;
    change.conflicts.push_back(other);
    changes_[other].conflicts.push_back(candidates_.size());
  }
  const uint32_t degree = DegreeAlone(candidate);
  change.seen[IndexOf(degree, ladder)] = alone.value_or(unchanged_);
  candidates_.push_back(candidate);
  ladders_.push_back(ladder);
  changes_.push_back(std::move(change));
}

PlanModel PlanSpace::Model() const { return {unchanged_, changes_}; }

std::vector<Candidate> PlanSpace::ChangesOf(const Plan& plan) const {
  std::vector<Candidate> changes;
  for (size_t i = 0; i < plan.size(); ++i) {
    if (plan[i] == 0) continue;
    Candidate& change = changes.emplace_back(candidates_[i]);
    change.degree = ladders_[i][plan[i] - 1];
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Candidate& a, const Candidate& b) { return a.effort < b.effort; });
  return changes;
}

std::optional<Plan> PlanSpace::PlanOf(const std::vector<Candidate>& changes) const {
  Plan plan(candidates_.size(), 0);
  for (const Candidate& change : changes) {
    const auto same = std::find_if(candidates_.begin(), candidates_.end(), [&](const auto& of) {
      return of.name == change.name && change.option.empty();
    });
    if (same == candidates_.end()) return std::nullopt;
    const auto place = static_cast<size_t>(same - candidates_.begin());
    plan[place] = IndexOf(change.degree, ladders_[place]);
  }
  return plan;
}

std::optional<PlanFigures> PlanSpace::FiguresOf(const Outcome& outcome) const {
  if (!outcome.completed) return std::nullopt;
  const std::optional<double> time = TimeRatio(answer_.reference->time(), outcome.time());
  if (!time) return std::nullopt;
  PlanFigures figures{.needs = {},
                      .time = std::max(*time, LeastByCopies(*answer_.reference, outcome))};
  for (const CardNeed& need : Joined(outcome.processes))
    if (static_cast<size_t>(need.card) == card_) figures.needs = NeedsOf(need);
  return figures;
}

}  // namespace memtrace::fit
