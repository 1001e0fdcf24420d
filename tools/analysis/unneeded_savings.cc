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

}  // namespace

std::vector<Saving> FindUnneededSavings(const SavingFacts& facts) {
  SavingList list;
  FindDeadCycles(facts, list);
  return list.Take();
}

}  // namespace memtrace::analysis
