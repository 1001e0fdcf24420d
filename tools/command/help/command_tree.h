// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_COMMAND_HELP_COMMAND_TREE_H_
#define MEMTRACE_TOOLS_COMMAND_HELP_COMMAND_TREE_H_

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
class Option;
}  // namespace CLI

namespace memtrace::command {

enum class ValueKind { kNone, kWord, kFile, kProcess };

// An option or an argument of a verb, as its parser knows it.
struct OptionFacts {
  std::vector<std::string> letters;  // "o", without dashes; an argument has neither
  std::vector<std::string> words;    // "output"
  std::string value;                 // what --help calls it: "FILE"; empty: it takes none
  ValueKind kind = ValueKind::kNone;
  std::vector<std::string> values;  // the values that it may have, if they are listed
  std::string description;
  std::string group;

  bool is_argument() const { return letters.empty() && words.empty(); }
};

// A verb, or the program itself.
struct CommandFacts {
  std::string name;
  std::string title;     // the first line of its description
  std::string text;      // the rest of it
  std::string synopsis;  // "memtrace stats [OPTIONS] FILE"
  std::string footer;    // examples
  std::vector<OptionFacts> options;
  std::vector<CommandFacts> verbs;  // without hidden ones
};

// Describes the command for completions and man pages, entirely from its parser.
CommandFacts DescribeCommand(const CLI::App& app);

}  // namespace memtrace::command

#endif  // MEMTRACE_TOOLS_COMMAND_HELP_COMMAND_TREE_H_
