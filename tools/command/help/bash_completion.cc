// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tools/command/help/completion_words.h"
#include "tools/command/help/shell_completion.h"

namespace memtrace::command {
namespace {

constexpr const char* kBashScript =
    R"bash(# bash completion of memtrace: source <(memtrace completion bash)
_memtrace_list() { COMPREPLY+=($(compgen "$@" -- "${COMP_WORDS[COMP_CWORD]}")); }
_memtrace() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _memtrace_list -W @VERBS_AND_OPTIONS@
    return
  fi
  for ((i = 2; i < COMP_CWORD; i++)); do  # the command of memtrace run
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      ((i + 1 == COMP_CWORD)) && _memtrace_list -c
      _memtrace_list -f
      return
    fi
  done
  case ${COMP_WORDS[1]} in
@CASES@  esac
}
complete -o filenames -F _memtrace memtrace
)bash";

constexpr const char* kBashCase = R"bash(    @VERB@)
      case $prev in
@VALUES@      esac
      if [[ $cur == -* ]]; then
        _memtrace_list -W @OPTIONS@
      else
        @ARGUMENT@
      fi ;;
)bash";

std::string AllNames(const CommandFacts& command) {
  std::vector<std::string> names;
  for (const OptionFacts& option : command.options)
    for (const std::string& name : NamesOf(option)) names.push_back(name);
  return absl::StrJoin(names, " ");
}

// Returns a compgen call that lists the values of the option.
std::string BashValue(const OptionFacts& option) {
  std::string list;
  if (!option.values.empty())
    absl::StrAppend(&list, "-W ", Quoted(absl::StrJoin(option.values, " ")), " ");
  if (option.kind == ValueKind::kFile) list += "-f ";
  if (option.kind == ValueKind::kProcess) list += "-W \"$(ps -o pid= -U \"$(id -u)\")\" ";
  return list.empty() ? "return" : "_memtrace_list " + list.substr(0, list.size() - 1);
}

std::string BashCase(const CommandFacts& verb) {
  std::string values;
  for (const OptionFacts& option : verb.options) {
    if (option.is_argument() || option.value.empty()) continue;
    absl::StrAppend(&values, "        ", absl::StrJoin(NamesOf(option), "|"), ") ",
                    BashValue(option), "; return ;;\n");
  }
  const OptionFacts* argument = ArgumentOf(verb);
  return absl::StrReplaceAll(
      kBashCase, {{"@VERB@", verb.name},
                  {"@VALUES@", values},
                  {"@OPTIONS@", Quoted(AllNames(verb))},
                  {"@ARGUMENT@", argument == nullptr ? "return" : BashValue(*argument)}});
}

}  // namespace

std::string BashCompletion(const CommandFacts& program) {
  std::string words;
  std::string cases;
  for (const CommandFacts& verb : program.verbs) {
    absl::StrAppend(&words, verb.name, " ");
    cases += BashCase(verb);
  }
  return absl::StrReplaceAll(
      kBashScript,
      {{"@VERBS_AND_OPTIONS@", Quoted(words + AllNames(program))}, {"@CASES@", cases}});
}

}  // namespace memtrace::command
