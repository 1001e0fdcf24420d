// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// `memtrace report -o page.html`, read tag by tag.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/tools/shell.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path kTests = fs::path(MEMTRACE_SOURCE) / "tests";
const fs::path kGolden = kTests / "golden";
// A browser also reads the page of this trace (report/page/browser/policy.test.ts).
const fs::path kHostile = kTests / "tools" / "report" / "page" / "hostile.trace.txt";

std::vector<std::string> GoldenTraces() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".trace.txt")) names.push_back(name.substr(0, name.size() - 10));
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Finds errors in the markup.
class MarkupReader {
 public:
  explicit MarkupReader(std::string page) : page_(std::move(page)) {}

  std::vector<std::string> Faults() {
    for (size_t at = page_.find('<'); at != std::string::npos; at = page_.find('<', at)) {
      const size_t end = page_.find('>', at);
      if (end == std::string::npos) return Wrong("a tag without an end");
      const std::string tag = page_.substr(at + 1, end - at - 1);
      Read(tag);
      at = tag == "script" ? page_.find("</script>", end) : end;  // there is no markup between them
    }
    if (!open_.empty()) Wrong("nobody closes " + open_.back());
    return faults_;
  }

 private:
  std::vector<std::string> Wrong(const std::string& what) {
    faults_.push_back(what);
    return faults_;
  }

  void Read(const std::string& tag) {
    if (tag == "!doctype html") return;
    const bool closes = tag.starts_with('/');
    const bool is_empty = tag.ends_with('/');
    const size_t begin = closes ? 1 : 0;
    const std::string name = tag.substr(begin, tag.find_first_of(" /", begin) - begin);
    if (!known_.contains(name)) Wrong("there is no tag " + tag);
    if (std::regex_search(tag, kForbidden)) Wrong("an attribute of " + tag);
    if (closes) {
      if (open_.empty() || open_.back() != name) return void(Wrong("closes " + name));
      open_.pop_back();
    } else if (!is_empty && name != "meta") {
      open_.push_back(name);
    }
  }

  // An attribute that loads or runs something; links within the page do not.
  inline static const std::regex kForbidden{R"( (src|style|action|on\w+)=| href="(?!#))"};
  const std::set<std::string> known_ = {
      "html",  "head",    "meta",    "title",  "style",    "body",   "main",       "section",
      "h1",    "h2",      "small",   "p",      "div",      "table",  "thead",      "tbody",
      "tfoot", "caption", "tr",      "th",     "td",       "dl",     "dt",         "dd",
      "svg",   "rect",    "path",    "text",   "circle",   "figure", "figcaption", "ul",
      "li",    "details", "summary", "pre",    "template", "script", "nav",        "a",
      "code",  "abbr",    "defs",    "pattern"};
  std::string page_;
  std::vector<std::string> open_;
  std::vector<std::string> faults_;
};

class PageTest : public testing::TestWithParam<std::string> {
 protected:
  std::string PageOf(const std::string& trace) {
    shell_.WriteTrace("run.trace", trace);
    const Outcome outcome = shell_.Run("memtrace report -o page.html run.trace");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "memtrace: wrote page.html; open it with a browser\n");
    return ReadFile(shell_.Path("page.html"));
  }
  static std::string Golden(const std::string& name) {
    return ReadFile(kGolden / (name + ".trace.txt"));
  }

  Shell shell_;
};

TEST_P(PageTest, HasOnlyKnownTagsAllClosed) {
  EXPECT_THAT(MarkupReader(PageOf(Golden(GetParam()))).Faults(), IsEmpty());
}

TEST_P(PageTest, AgreesWithTheTerminal) {
  const std::string page = PageOf(Golden(GetParam()));
  const std::string verdict = page.substr(page.find("<section id=\"verdict\">"));
  const std::string text = shell_.Run("memtrace report run.trace").out;
  const std::string first = text.substr(text.find("\n\n") + 2, 14);
  EXPECT_THAT(verdict.substr(0, 60), HasSubstr(first));
}

INSTANTIATE_TEST_SUITE_P(Traces, PageTest, testing::ValuesIn(GoldenTraces()),
                         [](const auto& test) { return test.param; });

using PageOfAnyTest = PageTest;

TEST_F(PageOfAnyTest, TextOfATraceIsEscaped) {
  const std::string page = PageOf(ReadFile(kHostile));
  EXPECT_THAT(MarkupReader(page).Faults(), IsEmpty());
  const size_t script = page.find("<script");
  EXPECT_THAT(page.substr(0, script), EndsWith("</template>\n"));  // our data: so it is ours
  EXPECT_THAT(page.substr(script + 1), Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;executed=1"));
}

TEST_F(PageOfAnyTest, ChinesePageHasItsTagAndTheSentencesOfTheScript) {
  shell_.WriteTrace("run.trace", Golden("fits"));
  ASSERT_EQ(shell_.Run("memtrace report --lang zh-CN -o page.html run.trace").code, 0);
  const std::string page = ReadFile(shell_.Path("page.html"));
  EXPECT_THAT(MarkupReader(page).Faults(), IsEmpty());
  EXPECT_THAT(page, HasSubstr("<html lang=\"zh-CN\">"));
  EXPECT_THAT(page, HasSubstr("<template id=\"translations\">{&quot;"));
  EXPECT_THAT(page, HasSubstr("&quot;Copy&quot;:&quot;复制&quot;"));
}

TEST_F(PageOfAnyTest, EnglishPageHasNoTranslations) {
  const std::string page = PageOf(Golden("fits"));
  EXPECT_THAT(page, HasSubstr("<html lang=\"en\">"));
  EXPECT_THAT(page, Not(HasSubstr("<template id=\"translations\">")));
}

TEST_F(PageOfAnyTest, ExistingFileIsOverwrittenOnlyIfForced) {
  shell_.WriteTrace("run.trace", Golden("fits"));
  shell_.Write("page.html", "precious");
  EXPECT_EQ(shell_.Run("memtrace report -o page.html run.trace").code, 2);
  EXPECT_EQ(ReadFile(shell_.Path("page.html")), "precious");
  EXPECT_EQ(shell_.Run("memtrace report -f -o page.html run.trace").code, 0);
  EXPECT_EQ(shell_.Run("memtrace report --json -f -o page.html run.trace").code, 2);
}

// Returns a rank of a job of 4, whose dimension has a hostile name.
std::string RankTrace(int rank) {
  return "info environment.RANK " + std::to_string(rank) +
         "\ninfo environment.WORLD_SIZE 4\nannotate job.groups "
         "\"[{\\\"name\\\":\\\"<img src=x>\\\",\\\"size\\\":2,\\\"at\\\":0,\\\"first\\\":" +
         std::to_string(rank) + ",\\\"stride\\\":2}]\"\nsample 0 total=1GiB free=1GiB\n" +
         "alloc 0 0x7f0000000000 requested=" + std::to_string(100 + rank) + "MiB\n";
}

TEST_F(PageOfAnyTest, JobHasOnlyKnownTagsAllClosed) {
  fs::create_directory(shell_.Path("job"));
  for (int rank = 0; rank < 2; ++rank)
    shell_.WriteTrace("job/" + std::to_string(rank) + ".trace", RankTrace(rank));
  ASSERT_EQ(shell_.Run("memtrace report -o page.html job").code, 0);
  const std::string page = ReadFile(shell_.Path("page.html"));
  EXPECT_THAT(MarkupReader(page).Faults(), IsEmpty());
  EXPECT_THAT(page, HasSubstr("<figure class=\"ranks\">"));
  EXPECT_THAT(page, HasSubstr("&lt;img src=x&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
}

// The page of a comparison.
class DiffPageTest : public testing::Test {
 protected:
  static std::string Golden(const std::string& name) {
    return ReadFile(kGolden / (name + ".trace.txt"));
  }
  std::string PageOf(const std::string& what) {
    const Outcome outcome = shell_.Run("memtrace diff -f -o page.html " + what);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "memtrace: wrote page.html; open it with a browser\n");
    return ReadFile(shell_.Path("page.html"));
  }

  Shell shell_;
};

TEST_F(DiffPageTest, HasOnlyKnownTagsForHostileTraces) {
  shell_.WriteTrace("hostile.trace", ReadFile(kHostile));
  shell_.WriteTrace("run.trace", Golden("hostile_text"));
  const std::string page = PageOf("hostile.trace run.trace");
  EXPECT_THAT(MarkupReader(page).Faults(), IsEmpty());
  const size_t script = page.find("<script");
  EXPECT_THAT(page.substr(0, script), EndsWith("</template>\n"));
  EXPECT_THAT(page.substr(script + 1), Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("onerror=executed=1&gt;.py:1"));
}

TEST_F(DiffPageTest, HasTheSectionsOfTheTerminal) {
  shell_.WriteTrace("a.trace", Golden("steps"));
  shell_.WriteTrace("b.trace", Golden("foreach_copy"));
  const std::string page = PageOf("a.trace b.trace");
  for (const char* part : {"WHAT CHANGED", "by role, module, site", "THE CARD", "card 0 before",
                           "template id=\"data-before\"", "template id=\"data-after\""})
    EXPECT_THAT(page, HasSubstr(part));
}

TEST_F(DiffPageTest, TwoMomentsOfOneRunShareItsData) {
  shell_.WriteTrace("run.trace", Golden("steps"));
  const std::string page = PageOf("--at step:1 --at peak run.trace");
  EXPECT_THAT(MarkupReader(page).Faults(), IsEmpty());
  EXPECT_THAT(page, HasSubstr("template id=\"data-before\""));
  EXPECT_THAT(page, Not(HasSubstr("template id=\"data-after\"")));
}

TEST_F(DiffPageTest, ExistingFileIsOverwrittenOnlyIfForced) {
  shell_.WriteTrace("run.trace", Golden("steps"));
  shell_.Write("page.html", "precious");
  const std::string diff = "memtrace diff --at step:1 --at peak run.trace -o page.html ";
  EXPECT_EQ(shell_.Run(diff).code, 2);
  EXPECT_EQ(shell_.Run(diff + "-f --json").code, 2);
  EXPECT_EQ(ReadFile(shell_.Path("page.html")), "precious");
}

}  // namespace
}  // namespace memtrace
