// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_MESSAGES_LANGUAGE_H_
#define MEMTRACE_MESSAGES_LANGUAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The language of the sentences that people read. All functions may be called from any thread.
namespace memtrace {

enum class Language : uint8_t { kEnglish, kChinese };

// Returns the language's tag, as `--lang` takes it and as HTML's `lang` attribute has it: "en",
// "zh-CN".
std::string_view TagOf(Language language);

// Returns the language that a tag or the name of a POSIX locale means: "en", "en_US.UTF-8", "zh",
// "zh-CN", "zh_CN.UTF-8", "C". Returns nothing if there is no translation, as for "zh-TW", which is
// written in other characters.
std::optional<Language> LanguageNamed(std::string_view name);

// Returns "en, zh-CN".
std::string LanguageTags();

// Returns the language in use: that of SetLanguage(); without it that of the environment, which is
// MEMTRACE_LANG, else the first of LC_ALL, LC_MESSAGES and LANG that is set. English if there is no
// translation for it, or if the terminal does not show UTF-8.
Language CurrentLanguage();
void SetLanguage(Language language);

// Uses a language until the end of the scope, for what is stored rather than printed.
class ScopedLanguage {
 public:
  explicit ScopedLanguage(Language language) : before_(CurrentLanguage()) { SetLanguage(language); }
  ~ScopedLanguage() { SetLanguage(before_); }
  ScopedLanguage(const ScopedLanguage&) = delete;
  ScopedLanguage& operator=(const ScopedLanguage&) = delete;

 private:
  Language before_;
};

// False if the locale (the first of LC_ALL, LC_CTYPE and LANG that is set, but for an LC_CTYPE of
// Python's) names a character set other than UTF-8. A locale without one, such as "C", is taken to
// show UTF-8, as Python does.
bool TerminalShowsUtf8();

}  // namespace memtrace

#endif  // MEMTRACE_MESSAGES_LANGUAGE_H_
