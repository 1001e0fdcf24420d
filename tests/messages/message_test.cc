// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "messages/message.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "messages/language.h"

namespace memtrace {
namespace {

using Variables = std::map<std::string, std::string>;

// Sets the variables that choose the language, and nothing else, while it lives.
class Locale {
 public:
  explicit Locale(const Variables& variables) {
    for (const char* name : {"MEMTRACE_LANG", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG"})
      unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Locale() { setenv("MEMTRACE_LANG", "en", 1); }
  Locale(const Locale&) = delete;
  Locale& operator=(const Locale&) = delete;
};

TEST(LanguageTest, TagsAndLocalesNameTheLanguagesThatThereAre) {
  for (const char* name : {"en", "en_US.UTF-8", "EN-gb", "C", "POSIX", "C.UTF-8"})
    EXPECT_EQ(LanguageNamed(name), Language::kEnglish) << name;
  for (const char* name : {"zh", "zh-CN", "zh_CN.UTF-8", "zh_CN@pinyin", "zh-Hans", "zh_SG"})
    EXPECT_EQ(LanguageNamed(name), Language::kChinese) << name;
  for (const char* name : {"", "zh_TW.UTF-8", "zh-Hant", "de", "english"})
    EXPECT_EQ(LanguageNamed(name), std::nullopt) << name;
  EXPECT_EQ(LanguageTags(), "en, zh-CN");
}

TEST(LanguageTest, FirstVariableThatIsSetDecides) {
  const std::string chinese = "zh_CN.UTF-8";
  {
    const Locale locale(Variables{});
    EXPECT_EQ(CurrentLanguage(), Language::kEnglish);
  }
  {
    const Locale locale(Variables{{"LANG", chinese}});
    EXPECT_EQ(CurrentLanguage(), Language::kChinese);
  }
  {
    const Locale locale(Variables{{"LANG", chinese}, {"LC_MESSAGES", "en_US.UTF-8"}});
    EXPECT_EQ(CurrentLanguage(), Language::kEnglish);
  }
  {
    const Locale locale(Variables{{"LC_ALL", chinese}, {"LC_MESSAGES", "en_US.UTF-8"}});
    EXPECT_EQ(CurrentLanguage(), Language::kChinese);
  }
  {
    const Locale locale(Variables{{"LC_ALL", chinese}, {"MEMTRACE_LANG", "en"}});
    EXPECT_EQ(CurrentLanguage(), Language::kEnglish);
  }
  {
    const Locale locale(Variables{{"LANG", chinese}, {"MEMTRACE_LANG", "klingon"}});
    EXPECT_EQ(CurrentLanguage(), Language::kChinese);
  }
}

TEST(LanguageTest, OtherCharacterSetsGetEnglish) {
  const Locale locale(Variables{{"LANG", "zh_CN.GB18030"}});
  EXPECT_FALSE(TerminalShowsUtf8());
  EXPECT_EQ(CurrentLanguage(), Language::kEnglish);
}

TEST(LanguageTest, CharacterSetThatPythonSetsDoesNotCount) {
  const Locale locale(Variables{{"LANG", "zh_CN.GB18030"}, {"LC_CTYPE", "C.UTF-8"}});
  EXPECT_FALSE(TerminalShowsUtf8());
}

TEST(LanguageTest, LocaleWithoutCharacterSetShowsUtf8) {
  for (const char* name : {"C", "zh_CN", "en_US.UTF-8", "zh_CN.utf8"}) {
    const Locale locale(Variables{{"LC_ALL", name}});
    EXPECT_TRUE(TerminalShowsUtf8()) << name;
  }
}

TEST(MessageTest, ValuesStandWhereTheTranslationHasThem) {
  const Locale locale(Variables{{"MEMTRACE_LANG", "zh-CN"}});
  const std::string text =
      Message("OUT OF MEMORY $0, at $1.", Message("in step $0", 3), std::string("train.py:20"));
  EXPECT_NE(text.find("train.py:20"), std::string::npos) << text;
  EXPECT_NE(text.find("第 3 步"), std::string::npos) << text;
  EXPECT_EQ(text.find("OUT OF"), std::string::npos) << text;
}

TEST(MessageTest, TextWithoutTranslationIsEnglish) {
  const Locale locale(Variables{{"MEMTRACE_LANG", "zh-CN"}});
  const std::string_view unknown = "no source has this sentence: $0";
  EXPECT_EQ(Message(unknown, 1), "no source has this sentence: 1");
}

TEST(MessageTest, CountChoosesTheForm) {
  EXPECT_EQ(CountedMessage(1, "1 other", "$0 others", "1"), "1 other");
  EXPECT_EQ(CountedMessage(2, "1 other", "$0 others", "2"), "2 others");
  const Locale locale(Variables{{"MEMTRACE_LANG", "zh-CN"}});
  EXPECT_NE(CountedMessage(2, "1 other", "$0 others", "2").find('2'), std::string::npos);
}

TEST(MessageTest, SentencesAreJoinedAsTheLanguageDoes) {
  EXPECT_EQ(JoinedSentences({"One.", "", "Two."}), "One. Two.");
  const Locale locale(Variables{{"MEMTRACE_LANG", "zh-CN"}});
  EXPECT_EQ(JoinedSentences({"一。", "", "二。"}), "一。二。");
}

}  // namespace
}  // namespace memtrace
