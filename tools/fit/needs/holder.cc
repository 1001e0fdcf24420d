// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/needs/holder.h"

#include <algorithm>

namespace memtrace::fit {

void HolderSums::Add(std::string_view role, std::string_view place, uint64_t bytes) {
  if (bytes == 0) return;
  Sum& sum = roles_[std::string(role)];
  sum.bytes += bytes;
  sum.places[std::string(place)] += bytes;
}

Holder HolderSums::Largest() const {
  const auto most = std::max_element(
      roles_.begin(), roles_.end(),
      [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
  if (most == roles_.end()) return {};
  const auto& [role, sum] = *most;
  const auto place =
      std::max_element(sum.places.begin(), sum.places.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  Holder holder{.name = role + ", " + place->first};
  const bool is_alone = 2 * place->second >= sum.bytes && place->second >= MostWithout(role);
  holder.bytes = is_alone ? place->second : sum.bytes;
  holder.places = is_alone ? 1 : sum.places.size();
  return holder;
}

uint64_t HolderSums::MostWithout(const std::string& role) const {
  uint64_t most = 0;
  for (const auto& [name, sum] : roles_)
    if (name != role) most = std::max(most, sum.bytes);
  return most;
}

}  // namespace memtrace::fit
