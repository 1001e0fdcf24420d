// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/rank_groups.h"

#include <optional>
#include <utility>

#include "nlohmann/json.hpp"

namespace memtrace::analysis {
namespace {

using nlohmann::json;

constexpr size_t kMostGroups = 64;  // more than the hooks state

// Returns nothing if the member is not there or not a number of at least 0.
std::optional<uint64_t> Number(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<uint64_t>();
}

std::optional<RankGroup> ParseGroup(const json& object) {
  if (!object.is_object()) return std::nullopt;
  const auto size = Number(object, "size");
  const auto at = Number(object, "at");
  const auto first = Number(object, "first");
  const auto stride = Number(object, "stride");
  if (!size || !at || !first || !stride || *size < 2 || *at >= *size) return std::nullopt;
  const auto name = object.find("name");
  const bool is_named = name != object.end() && name->is_string();
  return RankGroup{.name = is_named ? name->get<std::string>() : std::string(),
                   .size = *size,
                   .at = *at,
                   .first = *first,
                   .stride = *stride};
}

}  // namespace

std::vector<RankGroup> ParseRankGroups(const std::string& text) {
  const json list = json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<RankGroup> groups;
  if (!list.is_array()) return groups;
  for (const json& object : list) {
    if (groups.size() == kMostGroups) break;
    if (std::optional<RankGroup> group = ParseGroup(object)) groups.push_back(*std::move(group));
  }
  return groups;
}

}  // namespace memtrace::analysis
