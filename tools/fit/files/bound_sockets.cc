// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/fit/files/bound_sockets.h"

#include <set>

#include "absl/strings/str_split.h"

namespace memtrace::fit {

std::vector<std::string> BoundSockets(const std::string& text) {
  constexpr size_t kMost = 1000;
  std::set<std::string> names;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  for (const std::string& line : lines) {
    // Seven figures come before the name, which may contain blanks.
    const size_t name = line.find(" /");
    if (name != std::string::npos && names.size() < kMost) names.insert(line.substr(name + 1));
  }
  return {names.begin(), names.end()};
}

}  // namespace memtrace::fit
