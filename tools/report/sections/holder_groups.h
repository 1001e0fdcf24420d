// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_HOLDER_GROUPS_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_HOLDER_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/analysis/explained/holders.h"

namespace memtrace::report {

// The blocks in use of one role, of one tag of the program and of one model.
struct HolderGroup {
  trace::Role role = trace::Role::kUnknown;
  std::string name = {};  // "parameters", "parameters of edited_model", "parameters of model 2"
  uint64_t bytes = 0;     // requested
  std::string line = {};  // that made the largest part of it
  size_t model = 0;       // 0 for the first model without a tag, then counted within the role
};

// Returns all groups, which sum to the bytes held. Roles come in the order of their bytes, and
// within a role the first model, then the larger groups.
std::vector<HolderGroup> HolderGroups(const analysis::ExplainedHolders& holders);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_HOLDER_GROUPS_H_
