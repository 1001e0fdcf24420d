// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/program/language_option.h"

#include <cstdlib>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "base/environment.h"
#include "messages/language.h"
#include "messages/message.h"

namespace memtrace::command {
namespace {

void ChooseLanguage(const std::string& tag) {
  const std::optional<Language> language = LanguageNamed(tag);
  if (!language) {
    throw CLI::ValidationError(
        Message("memtrace has no language '$0'; --lang takes $1", tag, LanguageTags()));
  }
  SetLanguage(*language);
  // For the Python programs of doctor, estimate and fit. No other thread runs yet.
  setenv(env::kLanguage.name(), std::string(TagOf(*language)).c_str(),
         1);  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

void AddLanguageOption(CLI::App& app) {
  app.add_option_function<std::string>(
         "--lang", ChooseLanguage,
         "Language of what memtrace prints: " + LanguageTags() + " (default: the locale's)")
      ->type_name("TAG")
      ->trigger_on_parse()
      ->group("Output");
}

void UseLanguageIn(const std::vector<std::string>& arguments) {
  constexpr std::string_view kOption = "--lang";
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    std::optional<Language> language;
    if (word == kOption && i + 1 < arguments.size()) language = LanguageNamed(arguments[i + 1]);
    if (word.rfind(std::string(kOption) + "=", 0) == 0)
      language = LanguageNamed(word.substr(kOption.size() + 1));
    if (language) SetLanguage(*language);
  }
}

}  // namespace memtrace::command
