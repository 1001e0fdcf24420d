// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "messages/message.h"
#include "tools/command/help/suggestion.h"
#include "tools/command/program/exit_code.h"
#include "tools/command/program/program.h"
#include "tools/command/verbs/verbs.h"
#include "tools/report/words/glossary.h"
#include "tools/report/words/printable.h"

namespace memtrace::command {
namespace {

constexpr const char* kExplainDescription =
    "Explain a word of the reports\n"
    "Without a word it lists all of them.\n"
    "\n"
    "Usage: memtrace explain [OPTIONS] [WORD]...";
constexpr const char* kExplainExamples =
    "Examples:\n"
    "  memtrace explain granule\n"
    "  memtrace explain outside the allocator\n"
    "  memtrace explain --lang zh-CN";

void Print(const report::Term& term) {
  std::cout << report::Wrapped(MessageOf(term.name) + ": " + MessageOf(term.meaning), 2);
}

int Explain(const std::vector<std::string>& words) {
  std::string name;
  for (const std::string& word : words) name += (name.empty() ? "" : " ") + word;
  if (name.empty()) {
    for (const report::Term& term : report::Glossary()) Print(term);
    return kDone;
  }
  if (const auto term = report::TermNamed(name)) {
    Print(*term);
    return kDone;
  }
  std::vector<std::string> names;
  for (const report::Term& term : report::Glossary()) names.emplace_back(term.name);
  const std::string nearest = NearestOf(name, names);
  Note(
      nearest.empty()
          ? Message("the glossary has no word '$0'; memtrace explain lists those that it has", name)
          : Message("the glossary has no word '$0' (did you mean '$1'?); memtrace explain lists "
                    "those that it has",
                    name, nearest));
  return kUsage;
}

}  // namespace

void DefineExplain(CLI::App& app, const Invocation& /*invocation*/, int& exit_code) {
  auto words = std::make_shared<std::vector<std::string>>();
  app.description(kExplainDescription);
  app.footer(kExplainExamples);
  app.add_option("WORD", *words, "The word, or several that belong together")->group("Input");
  app.callback([words, &exit_code] { exit_code = Explain(*words); });
}

}  // namespace memtrace::command
