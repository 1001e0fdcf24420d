// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Runs every tests/golden/NAME.trace.txt through the real program and compares with NAME.txt and
// NAME.json in tests/golden/report and tests/golden/stats. Refresh them all, and the help texts in
// docs/reference/command_line.md, with: cmake --build build/dev --target refresh_goldens
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "nlohmann/json.hpp"
#include "tests/tools/shell.h"
#include "tools/report/words/printable.h"

namespace memtrace {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kGolden = fs::path(MEMTRACE_SOURCE) / "tests" / "golden";

bool IsRefreshing() { return std::getenv("MEMTRACE_REFRESH_GOLDENS") != nullptr; }

void CompareWithGolden(const std::string& actual, const std::string& name) {
  if (IsRefreshing()) WriteFile(kGolden / name, actual);
  EXPECT_EQ(actual, ReadFile(kGolden / name)) << "in " << name;
}

std::vector<std::string> Cases() {
  constexpr std::string_view kSuffix = ".trace.txt";
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kGolden)) {
    const std::string name = entry.path().filename().string();
    if (name.size() <= kSuffix.size() || entry.path().extension() != ".txt") continue;
    const size_t stem = name.size() - kSuffix.size();
    if (name.substr(stem) == kSuffix) names.push_back(name.substr(0, stem));
  }
  std::sort(names.begin(), names.end());
  return names;
}

int64_t Sum(const json& rows) {
  int64_t sum = 0;
  for (const json& row : rows) sum += row["bytes"].get<int64_t>();
  return sum;
}

class GoldenTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    shell_.WriteTrace(trace_, ReadFile(kGolden / (GetParam() + ".trace.txt")));
  }
  std::string OutputOf(const std::string& command) {
    const Outcome outcome = shell_.Run("memtrace " + command + " " + trace_);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }

  Shell shell_;
  const std::string trace_ = GetParam() + ".trace";
};

TEST_P(GoldenTest, TextReportMatchesGolden) {
  CompareWithGolden(OutputOf("report --verbose"), "report/" + GetParam() + ".txt");
}

TEST_P(GoldenTest, FirstScreenIsTheHeadOfTheReportAndFitsATerminal) {
  constexpr ptrdiff_t kLines = 25;
  const std::string first = OutputOf("report");
  EXPECT_EQ(OutputOf("report --verbose").substr(0, first.size()), first);
  EXPECT_LE(std::count(first.begin(), first.end(), '\n'), kLines) << first;
  const std::string narrow =
      shell_.Run("COLUMNS=80; export COLUMNS; memtrace report " + trace_).out;
  EXPECT_LE(std::count(narrow.begin(), narrow.end(), '\n'), kLines) << narrow;
}

TEST_P(GoldenTest, JsonReportMatchesGolden) {
  CompareWithGolden(OutputOf("report --json"), "report/" + GetParam() + ".json");
}

TEST_P(GoldenTest, JsonStatisticsMatchGolden) {
  CompareWithGolden(OutputOf("stats --json"), "stats/" + GetParam() + ".json");
}

void ExpectToFit(const std::string& text, size_t columns) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    EXPECT_LE(report::Width(line), columns) << line;
    EXPECT_EQ(report::Printable(line), line);
    begin = end + 1;
  }
}

TEST_P(GoldenTest, TextFitsTheTerminalWithoutControlCharacters) {
  ExpectToFit(OutputOf("report --verbose") + OutputOf("stats"), report::kColumns);
}

TEST_P(GoldenTest, TextFitsANarrowTerminal) {
  const Outcome outcome = shell_.Run("COLUMNS=80; export COLUMNS; memtrace report --verbose " +
                                     trace_ + "; memtrace stats " + trace_);
  ExpectToFit(outcome.out, report::kLeastColumns);
}

TEST_P(GoldenTest, TextStatisticsMatchGolden) {
  const std::string text = OutputOf("stats");
  // The size of the file depends on the format only.
  CompareWithGolden(text.substr(0, text.find("\nTRACE\n")), "stats/" + GetParam() + ".txt");
}

TEST_P(GoldenTest, EveryLedgerAndBreakdownSumsToItsWhole) {
  const json report = json::parse(OutputOf("report --json"));
  EXPECT_EQ(Sum(report["ledger"]), report["card"]["bytes"]);
  for (const json& card : report["cards"]) EXPECT_EQ(Sum(card["ledger"]), card["bytes"]);
  for (const char* way : {"by_role", "by_owner", "by_site"}) {
    EXPECT_EQ(Sum(report["peak"][way]), report["peak"]["bytes"]) << way;
  }
}

TEST_P(GoldenTest, StatisticsAndReportHaveTheSamePeak) {
  const json report = json::parse(OutputOf("report --json"));
  const json statistics = json::parse(OutputOf("stats --json"));
  for (const json& device : statistics["devices"]) {
    for (const json& card : report["cards"]) {
      if (card["index"] == device["index"]) {
        EXPECT_EQ(card["peak"], device["peak"]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, GoldenTest, testing::ValuesIn(Cases()),
                         [](const auto& each) { return each.param; });

class PlanGoldenTest : public testing::Test {
 protected:
  void SetUp() override { shell_.WriteTrace("steps.trace", ReadFile(kGolden / "steps.trace.txt")); }
  Outcome Plan(const std::string& options) {
    return shell_.Run("memtrace plan steps.trace " + options);
  }

  Shell shell_;
};

TEST_F(PlanGoldenTest, FiguresMatchGolden) {
  CompareWithGolden(Plan("").out, "steps.plan_report.txt");
  CompareWithGolden(Plan("--json").out, "steps.plan_report.json");
  const Outcome narrow = shell_.Run("COLUMNS=80; export COLUMNS; memtrace plan steps.trace");
  ExpectToFit(narrow.out, report::kLeastColumns);
}

TEST_F(PlanGoldenTest, FileMatchesGolden) {
  const Outcome outcome = Plan("-o run.plan");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err,
            "memtrace: wrote run.plan; next: memtrace run --plan run.plan -- COMMAND\n");
  CompareWithGolden(ReadFile(shell_.Path("run.plan")), "steps.plan.txt");
}

class DiffGoldenTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const std::string name : {"steps", "foreach_copy"})
      shell_.WriteTrace(name + ".trace", ReadFile(kGolden / (name + ".trace.txt")));
  }
  std::string Diff(const std::string& what, const std::string& setting = "") {
    const Outcome outcome = shell_.Run(setting + "memtrace diff " + what);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }

  Shell shell_;
};

TEST_F(DiffGoldenTest, TwoRunsMatchGolden) {
  CompareWithGolden(Diff("steps.trace foreach_copy.trace"), "two_runs.diff.txt");
  CompareWithGolden(Diff("--json steps.trace foreach_copy.trace"), "two_runs.diff.json");
}

TEST_F(DiffGoldenTest, TwoMomentsMatchGolden) {
  CompareWithGolden(Diff("--at step:1 --at peak --rows 3 steps.trace"), "two_moments.diff.txt");
}

TEST_F(DiffGoldenTest, TextFitsTheTerminal) {
  ExpectToFit(Diff("steps.trace foreach_copy.trace"), report::kColumns);
  ExpectToFit(Diff("steps.trace foreach_copy.trace", "COLUMNS=80; export COLUMNS; "),
              report::kLeastColumns);
}

TEST(PartialTraceTest, TruncatedTraceWithoutEventsSaysNothingOfTheRun) {
  const Shell shell;
  shell.WriteTrace("cut.trace", ReadFile(kGolden / "foreach_copy.trace.txt"));
  fs::resize_file(shell.Path("cut.trace"), 200);
  const Outcome text = shell.Run("memtrace report cut.trace");
  EXPECT_EQ(text.code, 4);
  EXPECT_THAT(text.out, testing::HasSubstr("Nothing can be said of the run"));
  EXPECT_THAT(text.out, testing::Not(testing::HasSubstr("did not run out of memory")));
}

TEST(PartialTraceTest, TruncatedTraceGivesABannerAndExitCode4) {
  const Shell shell;
  shell.WriteTrace("cut.trace", ReadFile(kGolden / "foreach_copy.trace.txt"));
  fs::resize_file(shell.Path("cut.trace"), fs::file_size(shell.Path("cut.trace")) - 700);
  const Outcome text = shell.Run("memtrace report cut.trace");
  EXPECT_EQ(text.code, 4);
  CompareWithGolden(text.out, "report/truncated.txt");
  const Outcome in_json = shell.Run("memtrace report --json cut.trace");
  EXPECT_EQ(in_json.code, 4);
  EXPECT_THAT(in_json.err, testing::HasSubstr("PARTIAL"));
  EXPECT_GT(json::parse(in_json.out)["lost"]["truncated_bytes"], 0);
}

TEST(PartialTraceTest, TraceTruncatedAnywhereDoesNotCrash) {
  const Shell shell;
  shell.WriteTrace("whole.trace", ReadFile(kGolden / "fits.trace.txt"));
  const auto size = fs::file_size(shell.Path("whole.trace"));
  for (uintmax_t length = 0; length < size; length += 1 + size / 40) {
    fs::copy_file(shell.Path("whole.trace"), shell.Path("cut.trace"),
                  fs::copy_options::overwrite_existing);
    fs::resize_file(shell.Path("cut.trace"), length);
    EXPECT_THAT(shell.Run("memtrace report cut.trace").code, testing::AnyOf(3, 4)) << length;
  }
}

// docs/reference/command_line.md shows each help text after "$ memtrace ... --help" in a fenced
// block.
TEST(HelpTest, DocumentShowsTheHelpOfEveryVerb) {
  const Shell shell;
  const fs::path path = fs::path(MEMTRACE_SOURCE) / "docs" / "reference" / "command_line.md";
  std::string document = ReadFile(path);
  for (const char* command :
       {"memtrace --help", "memtrace run --help", "memtrace fit --help", "memtrace report --help",
        "memtrace diff --help", "memtrace stats --help", "memtrace plan --help",
        "memtrace replay --help", "memtrace bench --help", "memtrace top --help",
        "memtrace snapshot --help", "memtrace export --help", "memtrace import --help",
        "memtrace verify --help", "memtrace repair --help", "memtrace cards --help",
        "memtrace doctor --help", "memtrace completion --help"}) {
    const std::string help = shell.Run(command).out;
    const std::string prompt = std::string("$ ") + command + "\n";
    const size_t begin = document.find(prompt);
    ASSERT_NE(begin, std::string::npos) << command;
    const size_t from = begin + prompt.size();
    const size_t end = document.find("```", from);
    if (IsRefreshing()) document.replace(from, end - from, help);
    EXPECT_EQ(document.substr(from, document.find("```", from) - from), help);
  }
  if (IsRefreshing()) WriteFile(path, document);
}

}  // namespace
}  // namespace memtrace
