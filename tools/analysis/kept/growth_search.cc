// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/growth_search.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {
namespace {

// True if the bytes in use as iterations begin rise after the first ones, which make states and
// caches once and for all. Otherwise nothing grows.
bool Rises(const std::vector<Visit>& visits) {
  constexpr size_t kFirst = 2;
  return visits.size() > kFirst && visits.back().in_use > visits[kFirst].in_use;
}

// True if layers cannot have been taken for iterations. A graph that reaches over all iterations
// may be waiting for the first backward, as that of a recurrent network does.
bool IsSure(const GrowthCourse& course, bool backward_seen) {
  if (course.kind == IterationKind::kStep) return true;
  if (course.iterations >= GrowthCourse::kMoreThanLayers) return true;
  return course.keeper && (course.keeper->kind != Keeper::Kind::kGraph || backward_seen);
}

// True if the keeper holds something of each iteration. A list has what each iteration appends, but
// the keys of a dict may be names that it has to have.
bool HoldsEachIteration(const std::optional<Keeper>& keeper) {
  return keeper.has_value() && keeper->container != "dict";
}

// True if the loop is one of the model: it recurs below one line more often than a module was
// called.
bool IsWithinCall(const ProgramLoop& loop, uint64_t calls) {
  return loop.is_of_one_line && loop.calls_modules && loop.count() > calls;
}

}  // namespace

void GrowthSearch::Apply(const trace::Event& event) {
  if (const auto* allocation = std::get_if<trace::Allocate>(&event.payload))
    loops_.Apply(*allocation, timeline_.counts().events + 1, timeline_.in_use());
}

void GrowthSearch::Watch(uint64_t moment, trace::StackId stack, const Annotations& annotations,
                         bool with_loops, Captures& captures, SiteNames& sites) {
  WatchSteps(moment, captures, sites);
  if (!with_loops) return;
  const std::vector<ProgramLoop> loops = loops_.Around(stack, moment);
  is_after_loop_ = loops_.IsAfterLoop(stack, moment);
  const uint64_t calls = AnnotatedNumber(annotations, trace::fact::kForwardCalls).value_or(0);
  const auto watch = [&](bool is_library) {
    for (const ProgramLoop& loop : loops) {
      if (loop.is_library != is_library) continue;
      if (!loop.calls_modules && loop.count() < GrowthCourse::kMoreThanLayers) continue;
      if (IsWithinCall(loop, calls)) continue;
      WatchVisits({.kind = IterationKind::kLoop,
                   .line = loop.line,
                   .needs_keeper = !loop.calls_modules,
                   .is_over = loop.is_over,
                   .watch = GrowthWatch(/*of_loop=*/true)},
                  loop.iterations, captures, sites);
    }
  };
  watch(/*is_library=*/false);
  WatchVisits(
      {.kind = IterationKind::kMicroBatch, .line = {}, .watch = GrowthWatch(/*of_loop=*/true)},
      timeline_.micro_batches().Until(moment), captures, sites);
  watch(/*is_library=*/true);
}

void GrowthSearch::WatchSteps(uint64_t moment, Captures& captures, SiteNames& sites) {
  const std::vector<uint64_t>& steps = timeline_.step_events();
  const auto end = std::upper_bound(steps.begin(), steps.end(), moment);
  const auto count = static_cast<size_t>(end - steps.begin());
  Candidate& candidate = candidates_.emplace_back();
  candidate.iterations = count;
  for (const size_t place : GrowthWatch::StepsToSample(count)) {
    captures.At(steps[place], [this, &candidate, &captures, &sites] {
      for (const auto& [device, card] : timeline_.cards()) {
        candidate.watch.See(captures.live().position().step, device, captures.live(), sites);
      }
    });
  }
}

// Looks at memory before the first allocation of each iteration.
void GrowthSearch::WatchVisits(Candidate candidate, const std::vector<Visit>& visits,
                               Captures& captures, SiteNames& sites) {
  if (!Rises(visits)) return;
  candidate.iterations = visits.back().number;
  GrowthWatch& watch = candidates_.emplace_back(std::move(candidate)).watch;
  for (const Visit& visit : visits) {
    captures.At(visit.event - 1, [this, &watch, number = visit.number, &captures, &sites] {
      for (const auto& [device, card] : timeline_.cards())
        watch.See(number, device, captures.live(), sites);
    });
  }
}

GrowthCourse GrowthSearch::Found(const GrowthMoment& moment, const LiveSet& live,
                                 const SiteNames& sites) const {
  for (const Candidate& candidate : candidates_) {
    GrowthCourse course = Course(candidate, moment, sites);
    if (!course.is_worth_saying(moment.held)) continue;
    course.keeper = FindKeeper(course, moment, live, source_);
    if (candidate.needs_keeper && !HoldsEachIteration(course.keeper)) continue;
    course.is_sure = IsSure(course, live.position().backward_seen);
    return course;
  }
  return candidates_.empty() ? GrowthCourse{} : Course(candidates_.front(), moment, sites);
}

GrowthCourse GrowthSearch::Course(const Candidate& candidate, const GrowthMoment& moment,
                                  const SiteNames& sites) const {
  GrowthCourse course{.kind = candidate.kind,
                      .line = candidate.line,
                      .iterations = candidate.iterations,
                      .bytes_per_iteration = candidate.watch.PerIteration(moment.device),
                      .sites = candidate.watch.Growing(moment.device, sites, source_),
                      .keeper = {},
                      .is_sure = false,
                      .is_over = candidate.is_over,
                      .is_past = candidate.is_over || !moment.is_failure};
  if (candidate.kind == IterationKind::kStep)
    course.bytes_per_iteration =
        GrowthPerStep(timeline_.LevelsAtSteps(moment.device, moment.event)).value_or(0);
  return course;
}

}  // namespace memtrace::analysis
