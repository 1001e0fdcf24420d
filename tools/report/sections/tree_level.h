// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_REPORT_SECTIONS_TREE_LEVEL_H_
#define MEMTRACE_TOOLS_REPORT_SECTIONS_TREE_LEVEL_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analysis/holders/attribution.h"

namespace memtrace::report {

// By what the bytes of a moment are told apart.
enum class TreeLevel : uint8_t { kRole, kOwner, kModule, kSite, kStep };

std::string_view LevelName(TreeLevel level);  // "role"
// "activation", "policy", "model.layers.*.mlp", "train.py:31", "step 5"
std::string LevelValue(const analysis::AttributedBytes& row, TreeLevel level);

// "role,owner,module,site,step", in the order wanted. kInvalidArgument: a sentence.
absl::StatusOr<std::vector<TreeLevel>> ParseTreeLevels(std::string_view text);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_TREE_LEVEL_H_
