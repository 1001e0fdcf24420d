// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/change_names.h"

#include <algorithm>

#include "absl/strings/str_replace.h"

namespace memtrace::fit {
namespace {

// Names that people use beside those of the table.
constexpr std::pair<std::string_view, remedies::Id> kShortNames[] = {
    {"checkpointing", remedies::Id::kCheckpointing},
    {"expandable-segments", remedies::Id::kExpandableSegments},
};

std::string WithHyphens(std::string_view name) {
  return absl::StrReplaceAll(absl::string_view(name.data(), name.size()), {{"_", "-"}, {" ", "-"}});
}

bool CanBeApplied(const remedies::Row& row) {
  return !row.hook.empty() || row.id == remedies::Id::kExpandableSegments;
}

}  // namespace

std::optional<remedies::Row> FindChange(std::string_view name) {
  const std::string wanted = WithHyphens(name);
  for (const auto& [short_name, id] : kShortNames)
    if (wanted == short_name) return remedies::RowOf(id);
  for (const remedies::Row& row : remedies::Catalogue()) {
    const bool is_named = wanted == WithHyphens(row.hook) || wanted == WithHyphens(row.name);
    if (!wanted.empty() && is_named && CanBeApplied(row)) return row;
  }
  return std::nullopt;
}

std::vector<std::string> ChangeNames() {
  std::vector<std::string> names;
  for (const remedies::Row& row : remedies::Catalogue())
    if (CanBeApplied(row)) names.push_back(WithHyphens(row.hook.empty() ? row.name : row.hook));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace memtrace::fit
