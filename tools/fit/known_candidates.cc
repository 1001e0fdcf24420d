// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "tools/fit/candidates.h"
#include "tools/remedies/catalogue.h"

namespace memtrace::fit {
namespace {

using remedies::Id;

// Hooks that the search for the cheapest plan tries, not the search of single changes.
constexpr Id kInPlansOnly[] = {
    Id::kNoOldGradients, Id::kStatesOnHost,           Id::kHalfMicroBatch,   Id::kOnePool,
    Id::kLogitsInPieces, Id::kSelectiveCheckpointing, Id::kActivationsOnHost};

// The others have no hook, because only a changed program or machine can try them.
bool CanBeTried(const remedies::Row& row) {
  if (std::find(std::begin(kInPlansOnly), std::end(kInPlansOnly), row.id) != std::end(kInPlansOnly))
    return false;
  return !row.hook.empty() || row.id == Id::kExpandableSegments || row.id == Id::kOurAllocator;
}

}  // namespace

std::vector<Candidate> AllCandidates() {
  std::vector<Candidate> candidates;
  for (const remedies::Row& row : remedies::Catalogue()) {
    if (!CanBeTried(row)) continue;
    Candidate& candidate = candidates.emplace_back();
    candidate.name = row.name;
    candidate.change = row.change;
    candidate.cost = row.cost;
    candidate.effort = row.effort;
    candidate.hook = row.hook;
    candidate.takes_another_card = row.effort == remedies::Effort::kMoney;
    if (row.id == Id::kExpandableSegments) candidate.settings = "expandable_segments:True";
    if (row.id == Id::kOurAllocator) candidate.allocator = "memtrace";
  }
  return candidates;
}

}  // namespace memtrace::fit
