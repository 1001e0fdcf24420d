// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/untried.h"

#include <algorithm>

#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::fit {
namespace {

// True if it is a change of the script, and not of its environment or of the machine.
bool IsEdit(const analysis::Remedy& remedy) {
  return remedy.effort != analysis::Effort::kSetting && remedy.effort != analysis::Effort::kMoney;
}

}  // namespace

std::string MissingPackage(const Candidate& candidate, const analysis::Annotations& annotations) {
  if (candidate.hook.empty()) return "";
  const auto missing = annotations.find(trace::fact::kFitMissing.Of(candidate.hook));
  return missing == annotations.end() ? "" : missing->second;
}

std::vector<UntriedRemedy> EditsAmong(const std::vector<analysis::Remedy>& remedies) {
  const std::vector<Candidate> candidates = AllCandidates();
  std::vector<UntriedRemedy> untried;
  for (const analysis::Remedy& remedy : remedies) {
    const bool is_tried = std::any_of(
        candidates.begin(), candidates.end(),
        [&remedy](const Candidate& candidate) { return candidate.name == remedy.name; });
    if (!is_tried && IsEdit(remedy))
      untried.push_back(
          {.name = remedy.name, .change = remedy.change, .cost = remedy.cost, .package = ""});
  }
  return untried;
}

}  // namespace memtrace::fit
