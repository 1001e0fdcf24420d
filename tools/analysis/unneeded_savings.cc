// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/unneeded_savings.h"

#include <utility>

namespace memtrace::analysis {
namespace {

using remedies::Id;

void FindDeadCycles(const SavingFacts& facts, SavingList& list) {
  if (!facts.dead) return;
  Saving saving = SavingOf(Id::kCollect, facts.dead->bytes, facts.dead->bytes);
  if (!facts.dead->made_at.empty())
    saving.change += "; the cycles hold what " + facts.dead->made_at + " makes";
  saving.ends_growth = saving.is_whole = facts.dead->is_all_that_grows;
  list.Add(std::move(saving));
}

// Another attempt, of a smaller batch, may need less than what is known of the one that failed.
void FindFailedAttempts(const SavingFacts& facts, SavingList& list) {
  using Keeper = FailedAttempts::Keeper;
  if (!facts.attempts || facts.attempts->keeper == Keeper::kUnknown) return;
  Saving saving = SavingOf(Id::kLetGoOfFailure, facts.attempts->bytes, 0);
  if (facts.attempts->keeper == Keeper::kName)
    saving.change = "keep no exception with its traceback: " + facts.attempts->name +
                    ".__traceback__ = None, or del, before the next attempt";
  saving.at_least = true;
  list.Add(std::move(saving));
}

}  // namespace

std::vector<Saving> FindUnneededSavings(const SavingFacts& facts) {
  SavingList list;
  FindDeadCycles(facts, list);
  FindFailedAttempts(facts, list);
  return list.Take();
}

}  // namespace memtrace::analysis
