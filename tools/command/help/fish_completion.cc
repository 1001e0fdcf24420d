// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/command/help/completion_words.h"
#include "tools/command/help/shell_completion.h"

namespace memtrace::command {
namespace {

std::string FishOption(const std::string& when, const OptionFacts& option) {
  std::string line = absl::StrCat("complete -c memtrace -n ", when);
  for (const std::string& letter : option.letters) absl::StrAppend(&line, " -s ", letter);
  for (const std::string& word : option.words) absl::StrAppend(&line, " -l ", word);
  if (!option.is_argument() && !option.value.empty())
    line += option.kind == ValueKind::kFile ? " -r" : " -x";
  if (!option.values.empty())
    absl::StrAppend(&line, " -a ", Quoted(absl::StrJoin(option.values, " ")));
  if (option.kind == ValueKind::kFile) line += " -F";
  if (option.kind == ValueKind::kProcess) line += " -a '(__fish_complete_pids)'";
  return absl::StrCat(line, " -d ", Quoted(Brief(option.description)), "\n");
}

std::string FishVerb(const CommandFacts& verb) {
  std::string text = absl::StrCat("complete -c memtrace -n __fish_use_subcommand -a ", verb.name,
                                  " -d ", Quoted(verb.title), "\n");
  const std::string when = Quoted("__fish_seen_subcommand_from " + verb.name);
  for (const OptionFacts& option : verb.options) text += FishOption(when, option);
  if (TakesCommand(verb)) absl::StrAppend(&text, "complete -c memtrace -n ", when, " -F\n");
  return text;
}

}  // namespace

std::string FishCompletion(const CommandFacts& program) {
  std::string text = "# fish completion of memtrace: memtrace completion fish | source\n";
  text += "complete -c memtrace -f\n";
  for (const OptionFacts& option : program.options)
    text += FishOption("__fish_use_subcommand", option);
  for (const CommandFacts& verb : program.verbs) text += FishVerb(verb);
  return text;
}

}  // namespace memtrace::command
