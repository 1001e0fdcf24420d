// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_CHANGES_UNTRIED_H_
#define MEMTRACE_TOOLS_FIT_CHANGES_UNTRIED_H_

#include <string>
#include <vector>

#include "tools/analysis/cures/remedies.h"
#include "tools/analysis/source/annotation.h"
#include "tools/fit/changes/candidates.h"

namespace memtrace::fit {

// A remedy that no run tried.
struct UntriedRemedy {
  std::string name;
  std::string change;
  std::string cost;
  // The package that makes the change and is not installed. Empty: the script must be edited.
  std::string package;
};

// Returns the package that a candidate needs and that the program's Python does not have, as a
// trial of the program states it. Empty: the candidate can be tried.
std::string MissingPackage(const Candidate& candidate, const analysis::Annotations& annotations);

// Returns those of a report's remedies that no candidate makes, because they edit the script. A
// hook cannot make them safely: it would have to know what the program does with a value later.
std::vector<UntriedRemedy> EditsAmong(const std::vector<analysis::Remedy>& remedies);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_CHANGES_UNTRIED_H_
