// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/launch/program_arguments.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace memtrace::launch {
namespace {

std::vector<std::string> SettingsOf(const Environment& environment) {
  std::vector<std::string> settings;
  settings.reserve(environment.size());
  for (const auto& [name, value] : environment) settings.push_back(absl::StrCat(name, "=", value));
  return settings;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ProgramArguments::ProgramArguments(std::vector<std::string> words, const Environment& environment)
    : words_(std::move(words)),
      settings_(SettingsOf(environment)),
      word_pointers_(PointersTo(words_)),
      setting_pointers_(PointersTo(settings_)) {}

}  // namespace memtrace::launch
