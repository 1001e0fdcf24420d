// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/command/help/completion_words.h"
#include "tools/command/help/shell_completion.h"

namespace memtrace::command {
namespace {

constexpr const char* kZshScript = R"zsh(#compdef memtrace
_memtrace() {
  if (( CURRENT == 2 )); then
    local -a verbs=(
@TITLES@    )
    _describe command verbs
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
@CASES@  esac
}
if [[ $funcstack[1] == _memtrace ]]; then _memtrace "$@"; else compdef _memtrace memtrace; fi
)zsh";

// Escapes text for use in [] or after a colon of an _arguments specification.
std::string ZshText(const std::string& text) {
  return absl::StrReplaceAll(
      text, {{"\\", "\\\\"}, {"[", "\\["}, {"]", "\\]"}, {":", "\\:"}, {"'", "'\\''"}});
}

std::string ZshValue(const OptionFacts& option) {
  if (option.value.empty()) return "";
  std::string action = " ";
  if (!option.values.empty()) action = "(" + absl::StrJoin(option.values, " ") + ")";
  if (option.kind == ValueKind::kFile && option.values.empty()) action = "_files";
  if (option.kind == ValueKind::kProcess) action = "_pids";
  return absl::StrCat(":", ZshText(option.value), ":", action);
}

// Returns the case of a verb: one call of _arguments, with a specification a line.
std::string ZshCase(const CommandFacts& verb) {
  std::string text = absl::StrCat("    ", verb.name, ")\n      _arguments -S");
  for (const OptionFacts& option : verb.options) {
    for (const std::string& name : NamesOf(option))
      absl::StrAppend(&text, " \\\n        '", name, "[", ZshText(Brief(option.description)), "]",
                      ZshValue(option), "'");
  }
  if (const OptionFacts* argument = ArgumentOf(verb); argument != nullptr)
    absl::StrAppend(&text, " \\\n        '*", ZshValue(*argument), "'");
  if (TakesCommand(verb)) text += " \\\n        '*:::COMMAND:_normal'";
  return text + " ;;\n";
}

std::string ZshTitle(const CommandFacts& verb) {
  const std::string title = absl::StrReplaceAll(verb.title, {{":", "\\:"}});
  return absl::StrCat("      ", Quoted(verb.name + ":" + title), "\n");
}

}  // namespace

std::string ZshCompletion(const CommandFacts& program) {
  std::string titles;
  std::string cases;
  for (const CommandFacts& verb : program.verbs) {
    titles += ZshTitle(verb);
    cases += ZshCase(verb);
  }
  return absl::StrReplaceAll(kZshScript, {{"@TITLES@", titles}, {"@CASES@", cases}});
}

}  // namespace memtrace::command
