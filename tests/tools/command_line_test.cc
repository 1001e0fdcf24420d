// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The real program as typed at a prompt: its output, its streams, and its exit codes.
#include "tests/tools/command_line_fixture.h"

namespace memtrace {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

TEST_F(CommandLineTest, ReplayReportsFitAndPlacements) {
  shell_.WriteTrace("run.trace",
                    "map 0 0x7f0000000000 size=20MiB\n"
                    "alloc 0 0x7f0000000000 requested=4MiB\n"
                    "alloc 0 0x7f0000400000 requested=6MiB\n");
  const Outcome text = shell_.Run(
      "memtrace replay run.trace --policy torch-native --card 30MiB --placements out; cat out");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("2 of 2 allocations are placed where they were recorded"));
  EXPECT_THAT(text.out, ContainsRegex("30.0 MiB +yes +10.0 MiB +20.0 MiB +20.0 MiB +2\n"));
  EXPECT_THAT(text.out, EndsWith("2 0 0 0 4194304\n3 0 0 4194304 6291456\n"));
  const Outcome json = shell_.Run("memtrace replay --json run.trace --policy lower-bound");
  EXPECT_THAT(json.out, HasSubstr("\"schema\": \"memtrace.replay/1\""));
  EXPECT_THAT(json.out, HasSubstr("\"peak_reserved\": 10485760"));
}

TEST_F(CommandLineTest, ReplayRejectsInvalidArguments) {
  shell_.WriteTrace("run.trace", "alloc 0 0x7f0000000000 requested=4MiB\n");
  shell_.WriteTrace("idle.trace", "step 1\n");
  ExpectRefusal("memtrace replay run.trace", 2, "--policy is required");
  ExpectRefusal("memtrace replay run.trace --policy best", 2, "torch-native");
  ExpectRefusal("memtrace replay idle.trace --policy memtrace", 2, "nothing to replay");
  ExpectRefusal("memtrace replay run.trace --policy memtrace --card 24GB", 2, "24GB");
  ExpectRefusal("memtrace replay run.trace --policy memtrace --card 2x24GiB", 2,
                "must be one size or one profile");
  ExpectRefusal("memtrace replay run.trace --policy memtrace --card 9GiB,other=1GiB", 2,
                "must be one size or one profile");
  ExpectRefusal("memtrace replay run.trace --policy memtrace --placements no/such", 2,
                "cannot write no/such");
  ExpectRefusal("memtrace replay none.trace --policy memtrace", 3, "none.trace");
}

TEST_F(CommandLineTest, PlanIsWrittenCompletelyOrNotAtAll) {
  shell_.WriteTrace("run.trace", "alloc 0 0x7f0000000000 requested=4MiB\n");
  EXPECT_EQ(shell_.Run("memtrace plan run.trace -o run.plan").code, 0);
  ExpectRefusal("memtrace plan run.trace -o run.plan", 2, "run.plan exists already; -f overwrites");
  EXPECT_EQ(shell_.Run("memtrace plan run.trace -f -o run.plan").code, 0);
  ExpectRefusal("memtrace plan run.trace -o .", 2, "is a folder");
  ExpectRefusal("memtrace plan run.trace -o not/there.plan", 2, "cannot write not/there.plan");
  EXPECT_EQ(shell_.Run("ls").out, "run.plan\nrun.trace\n");
}

TEST_F(CommandLineTest, TraceWithNothingToPlanIsRejected) {
  shell_.WriteTrace("run.trace", "alloc 0 0x7f0000000000 requested=4KiB\n");
  ExpectRefusal("memtrace plan run.trace -o run.plan", 2, "there is nothing to plan");
  ExpectRefusal("memtrace plan no.trace", 3, "there is no file no.trace");
}

TEST_F(CommandLineTest, LayoutsAreNotComparedByTheirWholeJobs) {
  ExpectRefusal(
      "memtrace fit --card 8xh100-80gb --world 64 --vary tp=2,4 --whole-job -- python train.py "
      "{tp}",
      2, "ask for --whole-job without --vary");
}

TEST_F(CommandLineTest, CommunicatorsOfTheCardThatFitAssumesHaveTheStatedSize) {
  const std::string fit = "memtrace fit --smallest-card --nccl ";
  const Outcome outcome =
      shell_.Run(WithPackage(fit + "800MiB -- sh -c 'echo card $MEMTRACE_CARD; exit 1'"));
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("card 24GiB,nccl=800MiB"));
  ExpectRefusal(fit + "many -- true", 2, "nccl 'many'");
}

TEST_F(CommandLineTest, WithoutACommandUsageIsPrintedToStderr) {
  const Outcome outcome = shell_.Run("memtrace");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("Usage: memtrace COMMAND"));
}

TEST_F(CommandLineTest, VersionIsPrintedToStdout) {
  const Outcome outcome = shell_.Run("memtrace --version");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, StartsWith("memtrace 0."));
}

TEST_F(CommandLineTest, HelpWorksAsVerbAndAsFlag) {
  EXPECT_EQ(shell_.Run("memtrace help").out, shell_.Run("memtrace --help").out);
  EXPECT_EQ(shell_.Run("memtrace help tree").out, shell_.Run("memtrace tree --help").out);
  EXPECT_EQ(shell_.Run("memtrace help run").out, shell_.Run("memtrace run --help").out);
  EXPECT_EQ(shell_.Run("memtrace help run").code, 0);
  ExpectRefusal("memtrace help repor", 2, "report");
}

TEST_F(CommandLineTest, HelpNamesNoFileThatAnInstallationLacks) {
  const Outcome verbs = shell_.Run(
      "memtrace --help | sed -n '/^Commands:/,/^$/s/^  \\([a-z]*\\)  .*/\\1/p' | tee verbs; "
      "for verb in $(cat verbs); do memtrace $verb --help || echo NO HELP OF $verb; done >help");
  EXPECT_THAT(verbs.out, AllOf(HasSubstr("run\n"), HasSubstr("export\n"), HasSubstr("import\n")));
  EXPECT_THAT(shell_.Run("cat help").out,
              AllOf(HasSubstr("Usage: memtrace run"), HasSubstr("Usage: memtrace import"),
                    Not(HasSubstr("NO HELP OF")), Not(HasSubstr("docs/"))));
}

TEST_F(CommandLineTest, MistypedVerbsAndFlagsGetSuggestions) {
  ExpectRefusal("memtrace rapport run.trace", 2, "did you mean 'report'?");
  ExpectRefusal("memtrace frobnicate", 2, "no command 'frobnicate'; memtrace --help");
  ExpectRefusal("memtrace run --crad 24GiB -- true", 2, "did you mean '--card'?");
  ExpectRefusal("memtrace report --jsn run.trace", 2, "did you mean '--json'?");
  ExpectRefusal("memtrace report a.trace b.trace", 2, "'b.trace' is one argument too many");
  ExpectRefusal("memtrace report", 2, "FILE");
  ExpectRefusal("memtrace report --oom 0 x", 2, "--oom");
}

TEST_F(CommandLineTest, UnreadableInputIsDescribed) {
  ExpectRefusal("memtrace report none.trace", 3, "there is no file none.trace");
  ExpectRefusal("mkdir runs; memtrace report runs", 3, "runs is a folder");
  ExpectRefusal("printf '\\200\\004}' >s.pickle; memtrace report s.pickle", 3, "is a pickle");
  ExpectRefusal("echo a | gzip >a.trace; memtrace report a.trace", 3, "a gzip file");
  ExpectRefusal("echo words >a.trace; memtrace stats a.trace", 3,
                "it looks like text; memtrace run -o NAME -- COMMAND records a new one");
  ExpectRefusal(": >empty.trace; memtrace report empty.trace", 3, "empty");
}

TEST_F(CommandLineTest, ReportNamesTracesOfOtherProcesses) {
  for (const char* name : {"run.trace", "run.trace.41", "run.trace.407", "other.trace"}) {
    shell_.WriteTrace(name, "alloc 0 0x200 requested=1MiB\n");
  }
  shell_.Write("run.trace.5", "no trace");
  EXPECT_THAT(shell_.Run("memtrace report run.trace").out,
              HasSubstr("see 2 more processes  memtrace report .\n"));
  EXPECT_THAT(shell_.Run("memtrace report ./run.trace.41").out,
              HasSubstr("see 2 more processes  memtrace report ./\n"));
  EXPECT_THAT(shell_.Run("memtrace report other.trace").out, Not(HasSubstr("more process")));
  ExpectRefusal("memtrace tree .", 3,
                "other commands read one trace in it: ./other.trace, ./run.trace, ");
}

TEST_F(CommandLineTest, ControlCharactersInAFileNameAreEscaped) {
  const Outcome outcome = shell_.Run("memtrace report \"$(printf 'a\\033[2Jb')\"");
  EXPECT_THAT(outcome.err, HasSubstr("a\\x1b[2Jb"));
}

TEST_F(CommandLineTest, InvalidCountIsRejectedInOneSentence) {
  for (const std::string text : {"x", "0", "1.5", "99999999999"}) {
    ExpectRefusal("memtrace top " + text, 2, text + " is not a whole number of at least 1");
  }
}

TEST_F(CommandLineTest, MissingOutOfMemoryIsReported) {
  shell_.WriteTrace("fine.trace", "alloc 0 0x200 requested=1MiB\n");
  ExpectRefusal("memtrace report --oom 1 fine.trace", 2, "this trace has no out-of-memory error");
  shell_.WriteTrace("one.trace", "out_of_memory 0 requested=1MiB\n  card 0 total=2MiB\n");
  ExpectRefusal("memtrace report --oom 2 one.trace", 2,
                "no out-of-memory error 2 in this trace; it has 1");
}

TEST_F(CommandLineTest, ExportIsWrittenCompletelyOrNotAtAll) {
  shell_.WriteTrace("run.trace", "alloc 0 0x7f0000000000 requested=4MiB\n");
  const Outcome outcome = shell_.Run("memtrace export --to csv run.trace");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("wrote run.csv; open it with"));
  ExpectRefusal("memtrace export --to csv run.trace", 2, "run.csv exists already; -f overwrites");
  EXPECT_EQ(shell_.Run("memtrace export --to csv -f run.trace").code, 0);
  EXPECT_EQ(shell_.Run("memtrace export --to sqlite -o all.db run.trace").code, 0);
  ExpectRefusal("memtrace export --to csv -o . run.trace", 2, "is a folder");
  ExpectRefusal("memtrace export --to csv -o not/there.csv run.trace", 2,
                "cannot write not/there.csv");
  EXPECT_EQ(shell_.Run("ls").out, "all.db\nrun.csv\nrun.trace\n");
}

TEST_F(CommandLineTest, ExportOntoAFullDiskLeavesNothingAndIsReported) {
  std::string text;
  for (int i = 0; i < 3000; ++i)
    text += "alloc 0 " + std::to_string(i * 4096) + " requested=4KiB\n";
  shell_.WriteTrace("run.trace", text);
  for (const std::string format : {"csv", "sqlite", "jsonl", "snapshot"}) {
    ExpectRefusal("(trap '' XFSZ; ulimit -f 32; memtrace export --to " + format + " run.trace)", 5,
                  "no part of it was kept");
  }
  ExpectRefusal("memtrace export --to csv -o - run.trace >/dev/full", 5, "No space left on device");
  EXPECT_EQ(shell_.Run("ls").out, "run.trace\n");
}

TEST_F(CommandLineTest, ExportRejectsInvalidArguments) {
  shell_.WriteTrace("run.trace", "alloc 0 0x7f0000000000 requested=4MiB\n");
  ExpectRefusal("memtrace export --to perfeto run.trace", 2, "did you mean 'perfetto'");
  ExpectRefusal("memtrace export --to sqlite -o - run.trace", 2,
                "--to sqlite cannot write to stdout");
  ExpectRefusal("memtrace export --to csv no.trace", 3, "there is no file no.trace");
  EXPECT_EQ(shell_.Run("memtrace export --to csv -o - run.trace").err, "");
}

TEST_F(CommandLineTest, ExportOfADamagedTraceIsMarkedPartial) {
  shell_.WriteTrace("run.trace", "alloc 0 0x7f0000000000 requested=4MiB\n");
  shell_.Run("head -c -100 run.trace > cut.trace");
  const Outcome outcome = shell_.Run("memtrace export --to jsonl cut.trace");
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("wrote cut.jsonl"), HasSubstr("PARTIAL")));
}

}  // namespace
}  // namespace memtrace
