// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/variables.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::analysis {
namespace {

// Returns the bytes of one card in "0:1048576 1:4096", which lists bytes by card.
uint64_t BytesOn(const std::string& sizes, int32_t device) {
  const std::vector<std::string> words = absl::StrSplit(sizes, ' ');
  for (const std::string& word : words) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(word, absl::MaxSplits(':', 1));
    int32_t card = 0;
    uint64_t bytes = 0;
    if (absl::SimpleAtoi(parts.first, &card) && card == device &&
        absl::SimpleAtoi(parts.second, &bytes))
      return bytes;
  }
  return 0;
}

}  // namespace

std::vector<Variable> ParseVariables(const Annotations& annotations, int32_t device) {
  std::vector<Variable> found;
  const std::vector<std::string> lines =
      absl::StrSplit(AnnotatedText(annotations, fact::kVariablesReach), '\n');
  for (const std::string& line : lines) {
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    if (parts.size() != 5) continue;
    Variable variable{.name = parts[0], .place = parts[1], .kind = parts[2]};
    if (!absl::SimpleAtoi(parts[3], &variable.count)) continue;
    variable.bytes = BytesOn(parts[4], device);
    if (variable.bytes > 0) found.push_back(std::move(variable));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Variable& a, const Variable& b) { return a.bytes > b.bytes; });
  return found;
}

}  // namespace memtrace::analysis
