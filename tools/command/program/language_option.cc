// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/command/program/language_option.h"

#include <cstdlib>
#include <optional>
#include <string>

#include "CLI/CLI.hpp"
#include "base/environment.h"
#include "messages/language.h"

namespace memtrace::command {
namespace {

void ChooseLanguage(const std::string& tag) {
  const std::optional<Language> language = LanguageNamed(tag);
  if (!language) {
    throw CLI::ValidationError("memtrace has no language '" + tag + "'; --lang takes " +
                               LanguageTags());
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
      ->group("Output");
}

}  // namespace memtrace::command
