// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/help/command_tree.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"

namespace memtrace::command {
namespace {

bool IsPlaceholder(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) { return std::isupper(c) != 0; });
}

// Returns the values in "WHEN:{eager,lazy}", as CLI11 writes what a check allows, or in
// "on|off|FILE".
std::vector<std::string> ValuesOf(const std::string& type) {
  const size_t open = type.find(":{");
  const size_t close = type.find('}', open);
  if (open != std::string::npos && close != std::string::npos)
    return absl::StrSplit(type.substr(open + 2, close - open - 2), ',');
  std::vector<std::string> values;
  for (const auto word : absl::StrSplit(type.substr(0, type.find(':')), '|')) {
    const std::string value(word);
    if (!IsPlaceholder(value)) values.push_back(value);
  }
  return values;
}

ValueKind KindOf(const std::string& value, bool is_argument) {
  if (value.empty()) return ValueKind::kNone;
  if (value == "PID") return ValueKind::kProcess;
  const std::vector<std::string> words = absl::StrSplit(value, '|');
  const bool is_file = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "FILE" || word == "OUT" || word == "TRACE" || word == "DIR";
  });
  return is_file || is_argument ? ValueKind::kFile : ValueKind::kWord;
}

OptionFacts DescribeOption(const CLI::Option& option) {
  OptionFacts facts;
  facts.letters = option.get_snames();
  facts.words = option.get_lnames();
  facts.description = option.get_description();
  facts.group = option.get_group();
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() != 0) {
    facts.value = facts.is_argument() ? option.get_name(true) : type.substr(0, type.find(':'));
    facts.values = ValuesOf(type);
  }
  facts.kind = KindOf(facts.value, facts.is_argument() && facts.values.empty());
  return facts;
}

}  // namespace

CommandFacts DescribeCommand(const CLI::App& app) {
  constexpr std::string_view kUsage = "\nUsage: ";
  CommandFacts facts;
  const std::string description = app.get_description();
  const size_t line = description.find('\n');
  const size_t usage = description.find(kUsage);
  facts.name = app.get_name();
  facts.title = description.substr(0, line);
  if (line < usage)
    facts.text =
        std::string(absl::StripAsciiWhitespace(description.substr(line + 1, usage - line - 1)));
  if (usage != std::string::npos) facts.synopsis = description.substr(usage + kUsage.size());
  facts.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) facts.options.push_back(DescribeOption(*option));
  }
  for (const CLI::App* verb : app.get_subcommands({})) {
    if (!verb->get_group().empty()) facts.verbs.push_back(DescribeCommand(*verb));
  }
  return facts;
}

}  // namespace memtrace::command
