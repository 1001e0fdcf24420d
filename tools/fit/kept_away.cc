// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/kept_away.h"

#include "absl/strings/numbers.h"
#include "nlohmann/json.hpp"

namespace memtrace::fit {
namespace {

using Annotations = std::map<std::string, std::string>;

uint64_t NumberOf(const Annotations& annotations, const char* key) {
  const auto found = annotations.find(key);
  uint64_t number = 0;
  return found != annotations.end() && absl::SimpleAtoi(found->second, &number) ? number : 0;
}

}  // namespace

KeptAway KeptAwayOf(const Annotations& annotations) {
  KeptAway kept{.saves = NumberOf(annotations, "fit.kept_away.saves"),
                .files = NumberOf(annotations, "fit.kept_away.files"),
                .first = {}};
  const auto names = annotations.find("fit.kept_away.first");
  if (names == annotations.end()) return kept;
  const nlohmann::json list = nlohmann::json::parse(names->second, nullptr, false);
  if (!list.is_array()) return kept;
  for (const nlohmann::json& name : list)
    if (name.is_string()) kept.first.push_back(name.get<std::string>());
  return kept;
}

}  // namespace memtrace::fit
