// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/card_accounts.h"

#include "allocator/heap/parts/ledger.h"

namespace memtrace {

Statistics CardAccounts::statistics() const {
  const CardLock::Holder lock(lock_);
  return heap_.accounting().statistics();
}

absl::btree_map<PoolId, StatisticByPool> CardAccounts::by_pool() const {
  const CardLock::Holder lock(lock_);
  return heap_.accounting().mapping().by_pool();
}

void CardAccounts::ResetPeak() {
  const CardLock::Holder lock(lock_);
  heap_.accounting().ResetPeak();
}

void CardAccounts::ResetAccumulated() {
  const CardLock::Holder lock(lock_);
  heap_.accounting().ResetAccumulated();
}

void CardAccounts::ReportOutOfMemory(const OutOfMemoryEvent& event) {
  const CardLock::Holder lock(lock_);
  heap_.accounting().attempts().OutOfMemory(event);
}

AllocatorLedger CardAccounts::ledger() const {
  const CardLock::Holder lock(lock_);
  heap_.groups().MergeRecent();
  return LedgerOf(heap_.groups(), heap_.accounting());
}

PlanUse CardAccounts::plan_use() const {
  const CardLock::Holder lock(lock_);
  PlanUse sum;
  for (const auto& group : heap_.groups().all()) {
    if (group->planned() == nullptr) continue;
    sum.placed += group->planned()->use().placed;
    sum.elsewhere += group->planned()->use().elsewhere;
  }
  return sum;
}

}  // namespace memtrace
