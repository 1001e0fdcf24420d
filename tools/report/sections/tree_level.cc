// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/tree_level.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_split.h"
#include "messages/message.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

struct Named {
  TreeLevel level;
  std::string_view name;
};
constexpr std::array<Named, 5> kLevels = {{{TreeLevel::kRole, "role"},
                                           {TreeLevel::kOwner, "owner"},
                                           {TreeLevel::kModule, "module"},
                                           {TreeLevel::kSite, "site"},
                                           {TreeLevel::kStep, "step"}}};

}  // namespace

std::string_view LevelName(TreeLevel level) { return kLevels[static_cast<size_t>(level)].name; }

std::string LevelValue(const analysis::AttributedBytes& row, TreeLevel level) {
  switch (level) {
    case TreeLevel::kRole:
      return std::string(RoleName(row.role));
    case TreeLevel::kOwner:
      return row.owner;
    case TreeLevel::kModule:
      return row.module;
    case TreeLevel::kSite:
      return row.site;
    case TreeLevel::kStep:
      return row.step == 0 ? "before step 1" : "step " + std::to_string(row.step);
  }
  return "";
}

std::string LevelWords(const analysis::AttributedBytes& row, TreeLevel level) {
  if (level == TreeLevel::kRole) return RoleWords(row.role);
  if (level != TreeLevel::kStep) return SiteWords(LevelValue(row, level));
  return row.step == 0 ? Message("before step 1") : Message("step $0", row.step);
}

absl::StatusOr<std::vector<TreeLevel>> ParseTreeLevels(std::string_view text) {
  std::vector<TreeLevel> levels;
  for (const absl::string_view word :
       absl::StrSplit(absl::string_view(text.data(), text.size()), ',')) {
    const std::string name(word);
    const auto known = std::find_if(kLevels.begin(), kLevels.end(),
                                    [&name](const Named& level) { return level.name == name; });
    if (known == kLevels.end() ||
        std::find(levels.begin(), levels.end(), known->level) != levels.end()) {
      return absl::InvalidArgumentError(Message(
          "'$0' is not a list of levels; name role, owner, module, site or step, each once, "
          "separated by commas",
          text));
    }
    levels.push_back(known->level);
  }
  return levels;
}

}  // namespace memtrace::report
