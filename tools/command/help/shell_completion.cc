// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/help/shell_completion.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace memtrace::command {
namespace {

// Returns the text in single quotes.
std::string Quoted(const std::string& text) {
  return "'" + absl::StrReplaceAll(text, {{"'", "'\\''"}}) + "'";
}

// Returns the first statement of a description, which is all that a shell has room for.
std::string Brief(const std::string& description) {
  constexpr size_t kMost = 70;
  std::string brief = description;
  for (const char* end : {". ", "; "}) brief.resize(std::min(brief.find(end), brief.size()));
  if (brief.size() <= kMost) return brief;
  return brief.substr(0, brief.rfind(' ', kMost)) + " ...";
}

// Returns "-o --output".
std::vector<std::string> Names(const OptionFacts& option) {
  std::vector<std::string> names;
  names.reserve(option.letters.size() + option.words.size());
  for (const std::string& letter : option.letters) names.push_back("-" + letter);
  for (const std::string& word : option.words) names.push_back("--" + word);
  return names;
}

std::string AllNames(const CommandFacts& command) {
  std::vector<std::string> names;
  for (const OptionFacts& option : command.options)
    for (const std::string& name : Names(option)) names.push_back(name);
  return absl::StrJoin(names, " ");
}

const OptionFacts* Argument(const CommandFacts& command) {
  for (const OptionFacts& option : command.options)
    if (option.is_argument()) return &option;
  return nullptr;
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

// True if a command follows the verb's options, as with `run`.
bool TakesCommand(const CommandFacts& verb) {
  return verb.synopsis.find("COMMAND [ARGS]") != std::string::npos;
}

std::string BashVerb(const CommandFacts& verb) {
  std::string text = absl::StrCat("    ", verb.name, ")\n      case $prev in\n");
  for (const OptionFacts& option : verb.options) {
    if (option.is_argument() || option.value.empty()) continue;
    absl::StrAppend(&text, "        ", absl::StrJoin(Names(option), "|"), ") ", BashValue(option),
                    "; return ;;\n");
  }
  absl::StrAppend(&text, "      esac\n      if [[ $cur == -* ]]; then\n        _memtrace_list -W ",
                  Quoted(AllNames(verb)), "\n      else\n        ");
  const OptionFacts* argument = Argument(verb);
  text += argument == nullptr ? "return" : BashValue(*argument);
  return text + "\n      fi ;;\n";
}

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

std::string ZshVerb(const CommandFacts& verb) {
  std::string text = absl::StrCat("    ", verb.name, ")\n      _arguments -S");
  for (const OptionFacts& option : verb.options) {
    for (const std::string& name : Names(option))
      absl::StrAppend(&text, " \\\n        '", name, "[", ZshText(Brief(option.description)), "]",
                      ZshValue(option), "'");
  }
  if (const OptionFacts* argument = Argument(verb); argument != nullptr)
    absl::StrAppend(&text, " \\\n        '*", ZshValue(*argument), "'");
  if (TakesCommand(verb)) text += " \\\n        '*:::COMMAND:_normal'";
  return text + " ;;\n";
}

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

std::string BashText(const CommandFacts& program) {
  std::vector<std::string> verbs;
  verbs.reserve(program.verbs.size());
  for (const CommandFacts& verb : program.verbs) verbs.push_back(verb.name);
  return absl::StrCat(
      "_memtrace_list() { COMPREPLY+=($(compgen \"$@\" -- \"${COMP_WORDS[COMP_CWORD]}\")); }\n"
      "_memtrace() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    _memtrace_list -W ",
      Quoted(absl::StrCat(absl::StrJoin(verbs, " "), " ", AllNames(program))),
      "\n    return\n  fi\n"
      "  for ((i = 2; i < COMP_CWORD; i++)); do  # the command of memtrace run\n"
      "    if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
      "      ((i + 1 == COMP_CWORD)) && _memtrace_list -c\n      _memtrace_list -f\n      return\n "
      "   fi\n  done\n"
      "  case ${COMP_WORDS[1]} in\n");
}

}  // namespace

std::string BashCompletion(const CommandFacts& program) {
  std::string text = "# bash completion of memtrace: source <(memtrace completion bash)\n";
  text += BashText(program);
  for (const CommandFacts& verb : program.verbs) text += BashVerb(verb);
  return text + "  esac\n}\ncomplete -o filenames -F _memtrace memtrace\n";
}

std::string ZshCompletion(const CommandFacts& program) {
  std::string text =
      "#compdef memtrace\n_memtrace() {\n  if (( CURRENT == 2 )); then\n    local -a verbs=(\n";
  for (const CommandFacts& verb : program.verbs)
    absl::StrAppend(&text, "      ",
                    Quoted(verb.name + ":" + absl::StrReplaceAll(verb.title, {{":", "\\:"}})),
                    "\n");
  text +=
      "    )\n    _describe command verbs\n    return\n  fi\n  shift words\n  (( CURRENT-- ))\n";
  text += "  case $words[1] in\n";
  for (const CommandFacts& verb : program.verbs) text += ZshVerb(verb);
  return text +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _memtrace ]]; then _memtrace \"$@\"; else compdef _memtrace "
         "memtrace; fi\n";
}

std::string FishCompletion(const CommandFacts& program) {
  std::string text = "# fish completion of memtrace: memtrace completion fish | source\n";
  text += "complete -c memtrace -f\n";
  for (const OptionFacts& option : program.options)
    text += FishOption("__fish_use_subcommand", option);
  for (const CommandFacts& verb : program.verbs) {
    absl::StrAppend(&text, "complete -c memtrace -n __fish_use_subcommand -a ", verb.name, " -d ",
                    Quoted(verb.title), "\n");
    const std::string when = Quoted("__fish_seen_subcommand_from " + verb.name);
    for (const OptionFacts& option : verb.options) text += FishOption(when, option);
    if (TakesCommand(verb)) absl::StrAppend(&text, "complete -c memtrace -n ", when, " -F\n");
  }
  return text;
}

}  // namespace memtrace::command
