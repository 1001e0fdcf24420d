// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/help/man_page.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace memtrace::command {
namespace {

constexpr const char* kExamples = "Examples:\n";

// Escapes the text for roff, so that nothing in it is an escape and no line begins a request.
std::string Roff(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto piece : absl::StrSplit(text, '\n')) {
    std::string line = absl::StrReplaceAll(piece, {{"\\", "\\e"}, {"-", "\\-"}});
    if (line.starts_with('.') || line.starts_with('\'')) line.insert(0, "\\&");
    lines.push_back(line);
  }
  return absl::StrJoin(lines, "\n");
}

std::string Section(const std::string& title, const std::string& text) {
  return text.empty() ? "" : absl::StrCat(".SH ", title, "\n", text, "\n");
}

std::string Preformatted(const std::string& text) {
  return text.empty() ? "" : absl::StrCat(".nf\n", Roff(text), "\n.fi");
}

std::string Bold(const std::string& text) { return "\\fB" + Roff(text) + "\\fR"; }

std::string Option(const OptionFacts& option) {
  std::vector<std::string> names;
  names.reserve(option.letters.size() + option.words.size());
  for (const std::string& letter : option.letters) names.push_back(Bold("-" + letter));
  for (const std::string& word : option.words) names.push_back(Bold("--" + word));
  std::string line = absl::StrJoin(names, ", ");
  if (!option.value.empty())
    absl::StrAppend(&line, names.empty() ? "" : " ", "\\fI", Roff(option.value), "\\fR");
  std::string text = absl::StrCat(".TP\n", line, "\n", Roff(option.description), "\n");
  if (!option.values.empty() && option.value.find('|') == std::string::npos)
    absl::StrAppend(&text, ".br\nOne of: ", Roff(absl::StrJoin(option.values, ", ")), "\n");
  return text;
}

std::string Options(const CommandFacts& command) {
  std::string text;
  std::string group;
  for (const OptionFacts& option : command.options) {
    if (option.group != group) absl::StrAppend(&text, ".SS ", Roff(option.group), "\n");
    group = option.group;
    text += Option(option);
  }
  return text.empty() ? "" : ".SH OPTIONS\n" + text;
}

std::string Commands(const CommandFacts& program) {
  std::string text;
  for (const CommandFacts& verb : program.verbs)
    absl::StrAppend(&text, ".TP\n", Bold(ManPageName(program, verb)), "(1)\n", Roff(verb.title),
                    "\n");
  return text.empty() ? "" : ".SH COMMANDS\n" + text;
}

// Returns the sections of a footer: EXAMPLES, and NOTES with the text before and after them.
std::string Footer(const std::string& footer) {
  const size_t examples = footer.find(kExamples);
  if (examples == std::string::npos) return Section("NOTES", Roff(footer));
  const size_t begin = examples + std::string(kExamples).size();
  const size_t end = std::min(footer.find("\n\n", begin), footer.size());
  const std::string before(absl::StripAsciiWhitespace(footer.substr(0, examples)));
  const std::string behind(absl::StripAsciiWhitespace(footer.substr(end)));
  const std::string notes =
      before.empty() || behind.empty() ? before + behind : absl::StrCat(before, "\n\n", behind);
  return Section("NOTES", Roff(notes)) +
         Section("EXAMPLES", Preformatted(footer.substr(begin, end - begin)));
}

}  // namespace

std::string ManPageName(const CommandFacts& program, const CommandFacts& command) {
  return &command == &program ? "memtrace" : "memtrace-" + command.name;
}

std::string ManPage(const CommandFacts& program, const CommandFacts& command) {
  const std::string name = ManPageName(program, command);
  const std::string others = &command == &program ? "" : "\\fBmemtrace\\fR(1)";
  return absl::StrCat(".TH ", Roff(absl::AsciiStrToUpper(name)), " 1 \"\" \"memtrace ",
                      MEMTRACE_VERSION, "\" \"memtrace\"\n") +
         Section("NAME", absl::StrCat(Roff(name), " \\- ", Roff(command.title))) +
         Section("SYNOPSIS", Bold(command.synopsis)) + Section("DESCRIPTION", Roff(command.text)) +
         Commands(command) + Options(command) + Footer(command.footer) +
         Section("SEE ALSO", others);
}

}  // namespace memtrace::command
