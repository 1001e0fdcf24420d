// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/views/usage_groups.h"

#include <algorithm>

namespace memtrace::analysis {
namespace {

// Names with less than one part in so many of a column are not told apart.
constexpr uint64_t kLeastPart = 500;

}  // namespace

UsageGrouper::NameId UsageGrouper::NameOf(OriginId origin) {
  if (name_of_.size() <= origin) name_of_.resize(origin + 1);
  NameId& name = name_of_[origin];
  if (name != 0) return name - 1;
  const auto [entry, is_new] =
      by_name_.try_emplace(name_(origin), static_cast<NameId>(names_.size()));
  if (is_new) {
    names_.push_back(entry->first);
    live_.push_back(0);
  }
  name = entry->second + 1;
  return entry->second;
}

void UsageGrouper::Count(OriginId origin, uint64_t bytes, bool born) {
  uint64_t& live = live_[NameOf(origin)];
  live = born ? live + bytes : live - std::min(live, bytes);
}

void UsageGrouper::EndOf(uint64_t event) {
  const size_t column = samples_.size();
  if (column == curve_.columns.size() || curve_.columns[column].most_event != event) return;
  const uint64_t least = curve_.columns[column].most / kLeastPart;
  Sample& sample = samples_.emplace_back();
  for (NameId name = 0; name < live_.size(); ++name)
    if (live_[name] > least) sample.emplace_back(name, live_[name]);
}

std::vector<UsageGrouper::NameId> UsageGrouper::Largest(size_t keys) const {
  std::vector<uint64_t> most(names_.size(), 0);
  for (const Sample& sample : samples_)
    for (const auto& [name, bytes] : sample) most[name] = std::max(most[name], bytes);
  std::vector<NameId> largest;
  for (NameId name = 0; name < most.size(); ++name)
    if (most[name] > 0) largest.push_back(name);
  std::stable_sort(largest.begin(), largest.end(),
                   [&most](NameId a, NameId b) { return most[a] > most[b]; });
  if (largest.size() > keys) largest.resize(keys);
  return largest;
}

UsageGroups UsageGrouper::Finish(size_t keys) const {
  constexpr size_t kNone = ~size_t{0};
  std::vector<size_t> key_of(names_.size(), kNone);
  UsageGroups groups;
  for (const NameId name : Largest(keys)) {
    key_of[name] = groups.keys.size();
    groups.keys.push_back({names_[name], std::vector<uint64_t>(curve_.columns.size(), 0)});
  }
  for (size_t column = 0; column < curve_.columns.size(); ++column) {
    uint64_t rest = curve_.columns[column].most;
    for (const auto& [name, bytes] : column < samples_.size() ? samples_[column] : Sample()) {
      if (key_of[name] == kNone) continue;
      groups.keys[key_of[name]].bytes[column] = bytes;
      rest -= std::min(rest, bytes);
    }
    groups.rest.push_back(rest);
  }
  return groups;
}

}  // namespace memtrace::analysis
