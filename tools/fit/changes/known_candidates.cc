// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/candidates.h"
#include "tools/remedies/catalogue.h"

namespace memtrace::fit {
namespace {

using remedies::Id;

// The others have no hook, because only a changed program or machine can try them.
bool CanBeTried(const remedies::Row& row) {
  return !row.hook.empty() || row.id == Id::kExpandableSegments || row.id == Id::kOurAllocator;
}

Candidate CandidateOf(const remedies::Row& row) {
  Candidate candidate{.name = std::string(row.name),
                      .change = std::string(row.change),
                      .cost = std::string(row.cost),
                      .effort = row.effort,
                      .hook = std::string(row.hook),
                      .takes_another_card = row.effort == remedies::Effort::kMoney};
  if (const auto degrees = remedies::DegreesOf(row.id)) candidate.degrees = *degrees;
  if (row.id == Id::kExpandableSegments) candidate.settings = "expandable_segments:True";
  if (row.id == Id::kOurAllocator) candidate.allocator = "memtrace";
  return candidate;
}

}  // namespace

std::vector<Candidate> AllCandidates() {
  std::vector<Candidate> candidates;
  for (const remedies::Row& row : remedies::Catalogue())
    if (CanBeTried(row)) candidates.push_back(CandidateOf(row));
  return candidates;
}

}  // namespace memtrace::fit
