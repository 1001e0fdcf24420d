// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/help/help_format.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/command/help/command_tree.h"
#include "tools/report/words/printable.h"

namespace memtrace::command {
namespace {

constexpr size_t kColumn = 26;  // where descriptions begin

// Wraps the description to the terminal's width, each of its lines beginning at kColumn.
std::string Entry(const std::string& name, const std::string& description) {
  const std::string begin = "  " + name;
  const std::string lines = report::Wrapped(std::string(kColumn, ' ') + description, kColumn);
  if (begin.size() + 2 > kColumn) return begin + "\n" + lines;
  return begin + lines.substr(begin.size());
}

// Wraps each paragraph to the terminal's width.
std::string Paragraphs(const std::string& text) {
  std::string wrapped;
  const std::vector<std::string> paragraphs = absl::StrSplit(text, "\n\n", absl::SkipEmpty());
  for (const std::string& paragraph : paragraphs)
    wrapped += report::Wrapped(absl::StrReplaceAll(paragraph, {{"\n", " "}}), 0);
  return wrapped;
}

// Returns the examples as they are, and wraps what stands before and after them.
std::string WrappedFooter(const std::string& footer) {
  std::string text;
  const std::vector<std::string> parts = absl::StrSplit(footer, "\n\n", absl::SkipEmpty());
  for (const std::string& part : parts)
    text += "\n" + (absl::StrContains(part, "\n  ") ? part + "\n" : Paragraphs(part));
  return text;
}

// Returns the command's title, its description, wrapped, and its usage.
std::string Purpose(const CLI::App& app) {
  const CommandFacts facts = DescribeCommand(app);
  return facts.title + "\n" + Paragraphs(facts.text) + "\nUsage: " + facts.synopsis + "\n";
}

// Returns "-o, --output FILE".
std::string OptionName(const CLI::Option& option) {
  std::string name;
  if (option.get_positional()) return option.get_name(true);
  for (const std::string& letter : option.get_snames()) name += "-" + letter + ", ";
  for (const std::string& word : option.get_lnames()) name += "--" + word + ", ";
  name.resize(name.size() - 2);
  if (option.get_snames().empty()) name = "    " + name;
  if (option.get_items_expected_max() == 0) return name;
  const std::string type = option.get_type_name();  // CLI11 appends checks: "N:POSITIVE"
  return name + " " + type.substr(0, type.find(':'));
}

std::string Options(const CLI::App& app) {
  std::string text;
  for (const std::string& group : app.get_groups()) {
    if (group.empty()) continue;  // hidden
    const auto options = app.get_options(
        [&group](const CLI::Option* option) { return option->get_group() == group; });
    if (options.empty()) continue;
    text += "\n" + group + ":\n";
    for (const CLI::Option* option : options) {
      text += Entry(OptionName(*option), option->get_description());
    }
  }
  return text;
}

std::string Commands(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;  // hidden
    const std::string description = command->get_description();
    text += Entry(command->get_name(), description.substr(0, description.find('\n')));
  }
  return text.empty() ? "" : "\nCommands:\n" + text;
}

}  // namespace

std::string HelpFormat::make_help(const CLI::App* app, std::string /*name*/,
                                  CLI::AppFormatMode /*mode*/) const {
  return Purpose(*app) + Commands(*app) + Options(*app) + WrappedFooter(app->get_footer());
}

}  // namespace memtrace::command
