// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/layer_place.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace memtrace::analysis {

std::optional<LayerPlace> LayerPlaceOf(std::string_view path) {
  std::vector<std::string> parts = absl::StrSplit(absl::string_view(path.data(), path.size()), '.');
  for (auto part = parts.begin(); part != parts.end(); ++part) {
    uint64_t layer = 0;
    if (part->find_first_not_of("0123456789") != std::string::npos ||
        !absl::SimpleAtoi(*part, &layer))
      continue;
    *part = "*";
    parts.erase(part + 1, parts.end());
    return LayerPlace{absl::StrJoin(parts, "."), layer};
  }
  return std::nullopt;
}

}  // namespace memtrace::analysis
