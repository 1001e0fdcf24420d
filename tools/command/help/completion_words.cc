// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/help/completion_words.h"

#include <algorithm>

#include "absl/strings/str_replace.h"

namespace memtrace::command {

std::string Quoted(const std::string& text) {
  return "'" + absl::StrReplaceAll(text, {{"'", "'\\''"}}) + "'";
}

std::string Brief(const std::string& description) {
  constexpr size_t kMost = 70;
  std::string brief = description;
  for (const char* end : {". ", "; "}) brief.resize(std::min(brief.find(end), brief.size()));
  if (brief.size() <= kMost) return brief;
  return brief.substr(0, brief.rfind(' ', kMost)) + " ...";
}

std::vector<std::string> NamesOf(const OptionFacts& option) {
  std::vector<std::string> names;
  names.reserve(option.letters.size() + option.words.size());
  for (const std::string& letter : option.letters) names.push_back("-" + letter);
  for (const std::string& word : option.words) names.push_back("--" + word);
  return names;
}

const OptionFacts* ArgumentOf(const CommandFacts& verb) {
  for (const OptionFacts& option : verb.options)
    if (option.is_argument()) return &option;
  return nullptr;
}

bool TakesCommand(const CommandFacts& verb) {
  return verb.synopsis.find("COMMAND [ARGS]") != std::string::npos;
}

}  // namespace memtrace::command
