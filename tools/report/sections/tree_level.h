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

// A level by which the bytes of a moment are split.
enum class TreeLevel : uint8_t { kRole, kOwner, kModule, kSite, kStep };

std::string_view LevelName(TreeLevel level);  // "role"
// Returns "activation", "policy", "model.layers.*.mlp", "train.py:31" or "step 5", as JSON has it.
std::string LevelValue(const analysis::AttributedBytes& row, TreeLevel level);
// Returns the same as people read it: "activations".
std::string LevelWords(const analysis::AttributedBytes& row, TreeLevel level);
using ValueOfLevel = std::string (*)(const analysis::AttributedBytes& row, TreeLevel level);

// Parses "role,owner,module,site,step", in any order. Returns kInvalidArgument with a sentence.
absl::StatusOr<std::vector<TreeLevel>> ParseTreeLevels(std::string_view text);

}  // namespace memtrace::report

#endif  // MEMTRACE_TOOLS_REPORT_SECTIONS_TREE_LEVEL_H_
