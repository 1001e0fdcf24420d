// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "messages/language.h"

#include <array>
#include <atomic>
#include <initializer_list>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/environment.h"

namespace memtrace {
namespace {

constexpr std::array kLanguages = {Language::kEnglish, Language::kChinese};
constexpr int kOfEnvironment = -1;

std::atomic<int> language_set = kOfEnvironment;

std::string LowerCase(std::string_view text) {
  return absl::AsciiStrToLower(absl::string_view(text.data(), text.size()));
}

std::string_view FirstSet(std::initializer_list<env::Variable> variables) {
  for (const env::Variable variable : variables) {
    if (const std::string_view text = env::Text(variable); !text.empty()) return text;
  }
  return "";
}

Language LanguageOfEnvironment() {
  if (const auto asked = LanguageNamed(env::Text(env::kLanguage))) return *asked;
  if (!TerminalShowsUtf8()) return Language::kEnglish;
  return LanguageNamed(FirstSet({env::kLcAll, env::kLcMessages, env::kLang}))
      .value_or(Language::kEnglish);
}

}  // namespace

std::string_view TagOf(Language language) {
  switch (language) {
    case Language::kEnglish:
      return "en";
    case Language::kChinese:
      return "zh-CN";
  }
  return "";
}

std::optional<Language> LanguageNamed(std::string_view name) {
  const std::string tag =
      absl::StrReplaceAll(LowerCase(name.substr(0, name.find_first_of(".@"))), {{"_", "-"}});
  if (tag == "c" || tag == "posix" || tag == "en" || absl::StartsWith(tag, "en-"))
    return Language::kEnglish;
  for (const std::string_view simplified : {"zh", "zh-cn", "zh-sg", "zh-hans", "zh-hans-cn"}) {
    if (tag == simplified) return Language::kChinese;
  }
  return std::nullopt;
}

std::string LanguageTags() {
  std::string tags;
  for (const Language language : kLanguages)
    tags += (tags.empty() ? "" : ", ") + std::string(TagOf(language));
  return tags;
}

Language CurrentLanguage() {
  const int set = language_set.load(std::memory_order_relaxed);
  return set == kOfEnvironment ? LanguageOfEnvironment() : static_cast<Language>(set);
}

void SetLanguage(Language language) {
  language_set.store(static_cast<int>(language), std::memory_order_relaxed);
}

bool TerminalShowsUtf8() {
  // Python sets LC_CTYPE to this, whatever the terminal shows, if the system lacks the locale.
  const bool is_of_python = env::Is(env::kLcCtype, "C.UTF-8");
  const std::string_view locale = is_of_python ? FirstSet({env::kLcAll, env::kLang})
                                               : FirstSet({env::kLcAll, env::kLcCtype, env::kLang});
  const size_t dot = locale.find('.');
  if (dot == std::string_view::npos) return true;
  const std::string_view rest = locale.substr(dot + 1);
  const std::string charset = LowerCase(rest.substr(0, rest.find('@')));
  return charset == "utf-8" || charset == "utf8";
}

}  // namespace memtrace
