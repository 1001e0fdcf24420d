// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/help/suggestion.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "CLI/CLI.hpp"
#include "messages/message.h"

namespace memtrace::command {
namespace {

// Returns the Levenshtein distance: insertions, deletions and changes of one letter.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

}  // namespace

std::string NearestOf(std::string_view word, const std::vector<std::string>& candidates) {
  std::string_view nearest;
  size_t least = std::max<size_t>(word.size() / 3, 1) + 1;  // a third of the letters may be wrong
  for (const std::string& candidate : candidates) {
    const size_t distance = Distance(word, candidate);
    if (distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return std::string(nearest);
}

std::string UnexpectedWord(const CLI::App& app, const std::string& word) {
  if (word.rfind('-', 0) != 0) return Message("'$0' is one argument too many", word);
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  const std::string flag = word.substr(0, word.find('='));
  const std::string nearest = NearestOf(flag, flags);
  return nearest.empty() ? Message("there is no option '$0'", flag)
                         : Message("there is no option '$0' (did you mean '$1'?)", flag, nearest);
}

}  // namespace memtrace::command
