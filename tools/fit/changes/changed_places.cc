// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/changes/changed_places.h"

#include "nlohmann/json.hpp"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::fit {
namespace {

using nlohmann::json;

uint64_t NumberIn(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
}

std::string TextIn(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::optional<ChangedPlaces> ChangedPlacesOf(const analysis::Annotations& annotations,
                                             std::string_view hook) {
  const auto written = annotations.find(trace::fact::kFitChanged.Of(hook));
  if (written == annotations.end()) return std::nullopt;
  const json told = json::parse(written->second, nullptr, false);
  ChangedPlaces changed;
  if (told.is_number_unsigned()) changed.places = changed.of = told.get<uint64_t>();
  if (!told.is_object()) return changed;
  changed.places = NumberIn(told, "places");
  changed.of = NumberIn(told, "of");
  changed.target = TextIn(told, "target");
  changed.first = TextIn(told, "first");
  return changed;
}

}  // namespace memtrace::fit
