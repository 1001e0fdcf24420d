// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/unneeded_savings.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "messages/message.h"
#include "profiler/trace/vocabulary/facts.h"
#include "tools/analysis/source/less.h"
#include "tools/analysis/verdict/verdict.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;

void FindDeadCycles(const SavingFacts& facts, SavingList& list) {
  if (!facts.dead) return;
  Saving saving = SavingOf(Id::kCollect, facts.dead->bytes, facts.dead->bytes);
  if (!facts.dead->made_at.empty())
    saving.change = Message("$0; the cycles hold what is allocated at $1", MessageOf(saving.change),
                            facts.dead->made_at);
  saving.ends_growth = saving.is_whole = facts.dead->is_all_that_grows;
  list.Add(std::move(saving));
}

// Another attempt, with a smaller batch, may need less than the known need of the failed one.
void FindFailedAttempts(const SavingFacts& facts, SavingList& list) {
  using Keeper = FailedAttempts::Keeper;
  if (!facts.attempts || facts.attempts->keeper == Keeper::kUnknown) return;
  Saving saving = SavingOf(Id::kLetGoOfFailure, facts.attempts->bytes, 0);
  if (facts.attempts->keeper == Keeper::kName)
    saving.change = Message(
        "keep no exception with its traceback: $0.__traceback__ = None, or del $0, before the next "
        "attempt",
        facts.attempts->name);
  saving.at_least = true;
  list.Add(std::move(saving));
}

// Returns the need according to the step that made the value, which had none from before it.
// Nothing if the request was not made there or if the rest of the step is known better.
std::optional<uint64_t> NeedWithoutEarlierValue(const UnreadValue& value,
                                                const SavingFacts& facts) {
  const bool is_next = value.step + 1 == facts.moment.step;
  const RestOfStep& rest = facts.verdict.rest;
  if (!is_next || !facts.rise_of_same_request || (rest.rise && !rest.at_least)) return std::nullopt;
  const uint64_t used = Less(facts.ledger.total, Unused(facts.ledger));
  return Less(used, value.bytes) + std::max(*facts.rise_of_same_request, facts.request_bytes);
}

// A statement that reads the name itself needs the value until then, so it has to be split.
std::string DeletionAdvice(const UnreadValue& value) {
  if (value.is_cached)
    return Message(
        "$0.cache_clear() before the request, a smaller maxsize, or no lru_cache ($1): on a method "
        "it keeps each `self`",
        value.name, value.place);
  if (value.is_earlier)
    return Message("del $0 before $1 makes the next: nothing reads it again", value.name,
                   value.made_at);
  if (value.is_read_by_line)
    return Message(
        "del $0 at $1 as soon as it has been read: split the statement in two; nothing reads it "
        "again",
        value.name, value.place);
  return Message("del $0 before $1: nothing reads it again", value.name, value.place);
}

// True if later steps also hold it. A name from before the first step stays in all steps unless it
// is deleted; one that a step makes is replaced by the next.
bool IsInLaterSteps(const UnreadValue& value) { return value.is_earlier || value.step == 0; }

// The memory that an earlier value leaves for the rest of the step is known only if the previous
// step, from which the rest is foreseen, had no earlier value.
void FindUnreadNames(const SavingFacts& facts, SavingList& list) {
  for (const UnreadValue& value : facts.unread) {
    Saving saving = SavingOf(Id::kDeleteName, value.bytes, IsInLaterSteps(value) ? value.bytes : 0);
    saving.name = value.is_cached ? value.name + ".cache_clear()" : "del " + value.name;
    saving.change = DeletionAdvice(value);
    if (value.is_cached)
      saving.cost = Message("a cached result is computed again when it is requested");
    saving.at_least = value.step > 1 && value.step != facts.moment.step;
    const bool is_of_model = facts.verdict.rest.source == NeedSource::kPlacement &&
                             AnnotatedNumber(facts.annotations, fact::kSourceTrains) == 0;
    if (value.is_earlier && is_of_model) saving.percent_that_fits = kPercentOfLoaded;
    if (value.is_earlier && !saving.at_least) saving.need = NeedWithoutEarlierValue(value, facts);
    list.Add(std::move(saving));
  }
}

}  // namespace

std::vector<Saving> FindUnneededSavings(const SavingFacts& facts) {
  SavingList list;
  FindUnreadNames(facts, list);
  FindDeadCycles(facts, list);
  FindFailedAttempts(facts, list);
  return list.Take();
}

}  // namespace memtrace::analysis
