// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHEAPEST_PLAN_SPACE_H_
#define MEMTRACE_TOOLS_FIT_CHEAPEST_PLAN_SPACE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/fit/answer/answer.h"
#include "tools/fit/changes/candidates.h"
#include "tools/fit/plans/plan_model.h"

namespace memtrace::fit {

// The changes that plans are made of, and what runs of an answer tell a model about them.
class PlanSpace {
 public:
  // Takes the changes that were run alone, found something to change, and whose memory and time are
  // known. Requires the answer's run for reference.
  explicit PlanSpace(const Answer& answer);

  // Returns the model, with all that is known about single changes.
  PlanModel Model() const;

  bool empty() const { return candidates_.empty(); }

  std::vector<Candidate> ChangesOf(const Plan& plan) const;

  // Returns nothing if one of the changes is not of this space.
  std::optional<Plan> PlanOf(const std::vector<Candidate>& changes) const;

  // Returns nothing if the run did not complete, or if its time is not known.
  std::optional<PlanFigures> FiguresOf(const Outcome& outcome) const;

  // The card that is short of most; the figures are about it.
  size_t card() const { return card_; }

 private:
  void AddAlone(const TriedRemedy& tried);
  void Add(const Candidate& candidate, const Outcome& outcome);

  const Answer& answer_;
  size_t card_ = 0;
  PlanFigures unchanged_;
  std::vector<Candidate> candidates_;
  std::vector<std::vector<uint32_t>> ladders_;  // the degrees of each; {0}: it has none
  std::vector<PlanChange> changes_;
};

// Returns the phase that `phase` counts as in a plan: what is computed again is part of the
// backward pass.
size_t PlannedPhase(trace::Phase phase);

// Returns the degrees of a candidate that has places in a program, from the weakest on; {0} if its
// hook takes none. LoRA keeps its one rank.
std::vector<uint32_t> LadderOf(const Candidate& candidate);

// Takes away the degrees with which the host would hold more than four fifths of its `available`
// bytes, if each degree holds `each` bytes of it. 0 bytes of either: not known.
void KeepWithinHost(uint64_t each, uint64_t available, std::vector<uint32_t>& ladder);

// Returns the degrees that the host has the memory for, if `one_place` ran with the candidate in
// its first degree, and `unchanged` without it; all of them if it is no such change.
std::vector<uint32_t> LadderWithinHost(const Candidate& candidate, const Outcome& unchanged,
                                       const Outcome& one_place);

// True for a change of which one place is run first, without a limit: the host would have to hold
// the activations of all.
bool IsDearOnHost(const Candidate& candidate);

// Returns the degree in which a candidate is run alone; 0: as its hook does without one.
uint32_t DegreeAlone(const Candidate& candidate);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHEAPEST_PLAN_SPACE_H_
