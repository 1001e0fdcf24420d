// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/card_keys.h"

#include "absl/strings/str_replace.h"

namespace memtrace::launch {

void AddCardKey(std::string_view key, std::string_view value, std::vector<std::string>* specs) {
  if (value.empty()) return;
  std::string assignment = ",";
  assignment.append(key).append("=").append(value);
  const std::string assignment_of_many = assignment + ";";
  for (std::string& spec : *specs) {
    spec = absl::StrReplaceAll(spec, {{";", assignment_of_many}});
    spec += assignment;
  }
}

}  // namespace memtrace::launch
