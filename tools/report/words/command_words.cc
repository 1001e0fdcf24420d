// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/report/words/command_words.h"

#include <string_view>

#include "tools/report/words/printable.h"

namespace memtrace::report {
namespace {

std::string WithoutFolder(std::string_view word) {
  const size_t slash = word.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == word.size()) return std::string(word);
  return std::string(word.substr(slash + 1));
}

std::string Relative(std::string_view word, std::string_view folder) {
  if (folder.size() > 1 && word.size() > folder.size() + 1 &&
      word.substr(0, folder.size()) == folder && word[folder.size()] == '/') {
    return std::string(word.substr(folder.size() + 1));
  }
  return std::string(word);
}

std::string Joined(const analysis::RunFacts& run, bool keep_folders) {
  std::string joined;
  for (const std::string& word : run.words) {
    std::string shown = Relative(word, run.folder);
    if (joined.empty() || (!keep_folders && shown.substr(0, 1) == "/"))
      shown = WithoutFolder(shown);
    joined += (joined.empty() ? "" : " ") + shown;
  }
  return joined;
}

}  // namespace

std::string ShortCommand(const analysis::RunFacts& run, size_t width) {
  if (run.words.empty()) return run.command;
  std::string command = Joined(run, true);
  return Width(command) <= width ? command : Joined(run, false);
}

std::vector<std::string> CommandWords(const analysis::RunFacts& run) {
  std::vector<std::string> words;
  words.reserve(run.words.size());
  for (const std::string& word : run.words)
    words.push_back(words.empty() ? WithoutFolder(word) : Relative(word, run.folder));
  return words;
}

std::string ShellWord(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+,:@%=";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace memtrace::report
