// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/sections/holder_groups.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "messages/message.h"
#include "tools/report/words/printable.h"
#include "tools/report/words/vocabulary_words.h"

namespace memtrace::report {
namespace {

using analysis::Holding;

std::string NameOf(const Holding& holding) {
  const bool is_unknown = holding.role == trace::Role::kUnknown;
  const std::string role = is_unknown ? Message("blocks of unknown role") : RoleWords(holding.role);
  const std::string model = std::to_string(holding.model + 1);
  if (holding.owner.empty())
    return holding.model > 0 ? Message("$0 of model $1", role, model) : role;
  std::string owner = Printable(holding.owner);
  if (is_unknown) return owner;
  return holding.model > 0 ? Message("$0 of $1, model $2", role, owner, model)
                           : Message("$0 of $1", role, owner);
}

// Returns the user's line: the site, if it is one, because the line of the holder is then that of a
// library; a site of another kind, such as a module, if there is no line.
std::string PlaceOf(const Holding& holding, const std::string& line) {
  const size_t colon = holding.site.rfind(':');
  const bool is_line = colon != std::string::npos && colon + 1 < holding.site.size() &&
                       holding.site.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (!is_line && !line.empty()) return line;
  if (holding.site.starts_with("(in ")) return holding.site.substr(1, holding.site.size() - 2);
  return holding.site;
}

struct Group {
  HolderGroup shown;
  bool is_first_model = false;
  uint64_t largest = 0;  // bytes of the part whose line is shown
};

std::vector<Group> Grouped(const analysis::ExplainedHolders& holders) {
  std::vector<Group> groups;
  for (size_t i = 0; i < holders.held.holdings.size(); ++i) {
    const Holding& holding = holders.held.holdings[i];
    const std::string name = NameOf(holding);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const Group& each) {
      return each.shown.role == holding.role && each.shown.name == name;
    });
    if (found == groups.end()) {
      found = groups.insert(groups.end(), Group{.shown = {.role = holding.role, .name = name}});
      found->is_first_model = holding.owner.empty() && holding.model == 0;
    }
    found->shown.bytes += holding.bytes;
    if (holding.bytes > found->largest) {
      found->largest = holding.bytes;
      found->shown.line = PlaceOf(holding, holders.lines[i].line);
    }
  }
  return groups;
}

}  // namespace

std::vector<HolderGroup> HolderGroups(const analysis::ExplainedHolders& holders) {
  std::vector<Group> groups = Grouped(holders);
  std::map<trace::Role, uint64_t> of_role;
  for (const Group& group : groups) of_role[group.shown.role] += group.shown.bytes;
  const auto order = [&of_role](const Group& group) {
    return std::tuple(~of_role.at(group.shown.role), group.shown.role, !group.is_first_model,
                      ~group.shown.bytes);
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&order](const Group& a, const Group& b) { return order(a) < order(b); });
  std::vector<HolderGroup> shown;
  for (Group& group : groups) {
    const bool is_same_role = !shown.empty() && shown.back().role == group.shown.role;
    group.shown.model = is_same_role ? shown.back().model + 1 : group.is_first_model ? 0 : 1;
    shown.push_back(std::move(group.shown));
  }
  return shown;
}

}  // namespace memtrace::report
