// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/cures/launch_savings.h"

#include <algorithm>
#include <string>
#include <utility>

#include "messages/message.h"
#include "tools/analysis/source/frame_rules.h"

namespace memtrace::analysis {
namespace {

using remedies::Id;
using Relation = OtherProcess::Relation;

uint64_t OfOthers(const SavingFacts& facts) {
  return facts.ledger.positive(LedgerPart::kOtherProcesses);
}

// Returns the process of the launch's group that holds most; null if programs outside of the launch
// hold more.
const OtherProcess* LargestProcessOfLaunch(const SavingFacts& facts) {
  const uint64_t others = OfOthers(facts);
  if (BytesOfLaunch(facts.others, others) <= others / 2) return nullptr;
  return GroupOthers(facts.others).front().processes.front();
}

// Bytes that this process loaded from files and that hold nothing else.
uint64_t BytesLoadedFromFiles(const SavingFacts& facts) {
  if (IsLoading(facts.request_stack)) return facts.BytesWhere(IsLoading);
  uint64_t bytes = 0;
  facts.ForEachPart(Evidence::kStated, [&](const Block& block, const Part& part) {
    if (part.identity.role == trace::Role::kCheckpoint &&
        IsLoading(facts.source.Stack(block.allocation.stack)))
      bytes += part.bytes;
  });
  return bytes;
}

// True if the rank holds what it loaded from a file, according to its own trace. Without a trace,
// ranks are assumed to load what this one loads.
bool IsOfFile(const OtherProcess& rank, const SavingFacts& facts) {
  if (rank.holds) return rank.holds->is_of_file;
  const uint64_t live = facts.ledger.positive(LedgerPart::kLive);
  return IsLoading(facts.request_stack) ? BytesLoadedFromFiles(facts) > live / 2
                                        : BytesLoadedFromFiles(facts) > 0;
}

std::vector<Saving> SavingsWithoutLoads(const SavingFacts& facts) {
  const uint64_t bytes = OfOthers(facts) + BytesLoadedFromFiles(facts);
  Saving saving = SavingOf(Id::kHostCheckpoint, bytes, bytes);
  saving.change = Message(
      "torch.load(..., map_location=\"cpu\") in each rank: without it, a file's tensors go to the "
      "card from which they were saved");
  return {std::move(saving)};
}

Saving WithoutRank(const OtherProcess& rank, Saving saving) {
  saving.cost = Message("none: each rank has its own card");
  saving.change = Message("torch.cuda.set_device(LOCAL_RANK) in each rank before it uses a card");
  const bool has_set = rank.holds && rank.holds->has_own_card && !rank.holds->line.empty();
  if (has_set)
    saving.change = Message(
        "device=LOCAL_RANK at $1: what rank $0 allocates there belongs on its own card, which it "
        "already uses",
        rank.rank, rank.holds->line);
  return saving;
}

// Returns the change for a simulated card, which nvidia-smi does not know: its other processes are
// those of the same `memtrace run`, or the figure that --card has for them.
std::string WithoutOthersOfSimulatedCard(const SavingFacts& facts) {
  if (LargestProcessOfLaunch(facts) == nullptr)
    return Message("leave out other= in --card, or make it smaller: no process stands behind it");
  constexpr size_t kNamed = 4;
  const size_t count = facts.others.size();
  std::string names;
  for (size_t i = 0; i < std::min(count, kNamed); ++i)
    names += (i == 0 ? "" : ", ") + facts.others[i].pid;
  if (count > kNamed) names = Message("$0 and $1 more", names, count - kNamed);
  return CountedMessage(
      count,
      "stop process $0 of this run, or start it with a memtrace run of its own: each has a "
      "simulated card of its own",
      "stop processes $0 of this run, or start them with a memtrace run of their own: each has a "
      "simulated card of its own",
      names);
}

}  // namespace

bool RanksLoadOntoThisCard(const SavingFacts& facts) {
  const OtherProcess* most = OfOthers(facts) == 0 ? nullptr : LargestProcessOfLaunch(facts);
  return most != nullptr && most->relation == Relation::kRank && IsOfFile(*most, facts);
}

std::vector<Saving> FindLaunchSavings(const SavingFacts& facts) {
  const uint64_t others = OfOthers(facts);
  if (others == 0) return {};
  if (RanksLoadOntoThisCard(facts)) return SavingsWithoutLoads(facts);
  Saving saving = SavingOf(Id::kNoOtherProcess, others, others);
  saving.how_known = "exact";
  const OtherProcess* most = LargestProcessOfLaunch(facts);
  if (facts.source.is_simulated()) {
    saving.change = WithoutOthersOfSimulatedCard(facts);
    if (most == nullptr) saving.cost.clear();
  }
  if (most == nullptr) return {std::move(saving)};
  if (most->relation == Relation::kRank) return {WithoutRank(*most, std::move(saving))};
  if (most->relation == Relation::kDataWorker || most->relation == Relation::kWorker) {
    saving.cost = Message("none if the main process moves their results to the card");
    saving.change = Message(
        "do not use CUDA in this program's workers: torch.cuda.set_device, .cuda() or a tensor on "
        "the card creates a context in each");
  }
  return {std::move(saving)};
}

}  // namespace memtrace::analysis
