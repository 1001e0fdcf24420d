// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/trials/kept_away.h"

#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::fit {
namespace {

using analysis::Annotations;

uint64_t NumberOf(const Annotations& annotations, std::string_view key) {
  return analysis::AnnotatedNumber(annotations, key).value_or(0);
}

std::vector<std::string> NamesOf(const Annotations& annotations, std::string_view key) {
  const nlohmann::json list =
      nlohmann::json::parse(analysis::AnnotatedText(annotations, key), nullptr, false);
  std::vector<std::string> names;
  for (const nlohmann::json& name : list.is_array() ? list : nlohmann::json::array())
    if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

}  // namespace

KeptAway KeptAwayOf(const Annotations& annotations) {
  return {.saves = NumberOf(annotations, trace::fact::kFitKeptAwaySaves),
          .files = NumberOf(annotations, trace::fact::kFitKeptAwayFiles),
          .first = NamesOf(annotations, trace::fact::kFitKeptAwayFirst),
          .programs = NumberOf(annotations, trace::fact::kFitOtherProgramsCount),
          .first_programs = NamesOf(annotations, trace::fact::kFitOtherProgramsFirst)};
}

KeptAway WithLayer(KeptAway stated, const LayerContents& layer,
                   const std::set<std::string>& saves) {
  constexpr size_t kFirst = 5;
  stated.is_full = layer.is_full;
  for (const std::string& name : layer.names) {
    if (saves.count(name) != 0) continue;
    ++stated.files;
    if (stated.first.size() < kFirst) stated.first.push_back(name);
  }
  return stated;
}

}  // namespace memtrace::fit
