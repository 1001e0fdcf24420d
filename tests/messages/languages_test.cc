// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The language of the real program, on a real recording's text form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "tests/tools/shell.h"
#include "tools/report/words/printable.h"

namespace memtrace {
namespace {

using testing::HasSubstr;
using testing::Not;

class LanguagesTest : public testing::Test {
 protected:
  void SetUp() override {
    shell_.WriteTrace("run.trace", ReadFile(std::filesystem::path(MEMTRACE_SOURCE) / "tests" /
                                            "golden" / "foreach_copy.trace.txt"));
  }
  // Runs `memtrace report OPTIONS run.trace` with nothing but `locale` to choose the language.
  Outcome Report(const std::string& locale, const std::string& options = "") {
    return shell_.Run("unset MEMTRACE_LANG LC_ALL LC_MESSAGES LC_CTYPE LANG; " + locale +
                      " memtrace report " + options + " run.trace");
  }

  Shell shell_;
};

TEST_F(LanguagesTest, OptionAndLocaleChooseChinese) {
  const Outcome english = Report("");
  EXPECT_THAT(english.out, HasSubstr("OUT OF MEMORY"));
  const Outcome chinese = Report("", "--lang zh-CN");
  EXPECT_THAT(chinese.out, HasSubstr("显存不足"));
  EXPECT_THAT(chinese.out, Not(HasSubstr("OUT OF MEMORY")));
  EXPECT_EQ(Report("LANG=zh_CN.UTF-8").out, chinese.out);
  EXPECT_EQ(Report("LANG=zh_CN.UTF-8", "--lang en").out, english.out);
}

TEST_F(LanguagesTest, ChineseReportFitsTheTerminal) {
  std::istringstream lines(Report("", "--verbose --lang zh-CN").out);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (line.find("memtrace ") != std::string::npos) continue;  // commands to paste
    EXPECT_LE(report::Width(line), report::kColumns) << line;
  }
  EXPECT_GT(count, 25U);
}

TEST_F(LanguagesTest, JsonIsEnglishUnlessALanguageIsRequested) {
  EXPECT_EQ(Report("LANG=zh_CN.UTF-8", "--json").out, Report("", "--json").out);
  EXPECT_THAT(Report("", "--json --lang zh-CN").out, HasSubstr("显存不足"));
}

TEST_F(LanguagesTest, UnknownLanguageIsRejectedWithThoseThatThereAre) {
  const Outcome outcome = Report("", "--lang tlh");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("'tlh'"));
  EXPECT_THAT(outcome.err, HasSubstr("en, zh-CN"));
}

TEST_F(LanguagesTest, TerminalWithoutUtf8GetsAsciiAndEnglish) {
  const Outcome outcome = Report("LANG=zh_CN.GB18030", "--verbose");
  EXPECT_THAT(outcome.out, HasSubstr("OUT OF MEMORY"));
  EXPECT_THAT(outcome.out, HasSubstr("####"));
  for (const char c : outcome.out) ASSERT_GE(c, 0) << outcome.out;
}

}  // namespace
}  // namespace memtrace
