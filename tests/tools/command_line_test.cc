// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Runs the real program as typed at a prompt: its output, its streams, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/shell.h"

namespace memtrace {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class CommandLineTest : public testing::Test {
 protected:
  // A stand-in for the installed package, for runs that get as far as starting something.
  std::string WithPackage(const std::string& command) {
    std::filesystem::create_directories(shell_.Path("../package/inject"));
    shell_.Write("../package/inject/sitecustomize.py", "");
    return "export MEMTRACE_HOME=$PWD/../package; " + command;
  }
  // Expects one sentence on stderr and nothing on stdout.
  void ExpectRefusal(const std::string& command, int code, const std::string& part) {
    const Outcome outcome = shell_.Run(command);
    EXPECT_EQ(outcome.code, code) << command;
    EXPECT_THAT(outcome.out, IsEmpty()) << command;
    EXPECT_THAT(outcome.err, AllOf(StartsWith("memtrace: "), HasSubstr(part))) << command;
  }

  Shell shell_;
};

TEST_F(CommandLineTest, HostValuesFollowOptionsAndIgnoreTheEnvironment) {
  const std::string show =
      " -- sh -c 'echo ${MEMTRACE_HOST_VALUES-unset} ${MEMTRACE_GENERATE_LENGTH-unset}'";
  const std::string around = "export MEMTRACE_HOST_VALUES=1 MEMTRACE_GENERATE_LENGTH=3; ";
  EXPECT_EQ(shell_.Run(WithPackage(around + "memtrace run -q --card 24GiB" + show)).out,
            "unset unset\n");
  EXPECT_EQ(shell_
                .Run(WithPackage("memtrace run -q --card 24GiB --host-values on"
                                 " --generate-length 5" +
                                 show))
                .out,
            "1 5\n");
  EXPECT_EQ(
      shell_.Run(WithPackage(around + "memtrace run -q --card 24GiB --host-values off" + show)).out,
      "0 unset\n");
}

TEST_F(CommandLineTest, InvalidHostValuesAreRejected) {
  ExpectRefusal("memtrace run --host-values on -- true", 2, "add --card");
  ExpectRefusal("memtrace run --card 24GiB --host-values /not/there -- true", 2,
                "there is no file /not/there");
  ExpectRefusal("memtrace run --card 24GiB --host-values off --generate-length 5 -- true", 2,
                "--generate-length needs host values");
  ExpectRefusal("memtrace run --generate-length 5 -- true", 2, "add --card");
}

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

TEST_F(CommandLineTest, RunRejectsAnUnusablePlan) {
  shell_.Write("broken.plan", "memtrace-plan 1\nend");
  ExpectRefusal("memtrace run --plan broken.plan -- true", 2,
                "--plan: broken.plan: line 2: the file ends early; memtrace plan makes a plan");
  ExpectRefusal("memtrace run --plan no.plan -- true", 2, "cannot open no.plan");
  shell_.Write("run.plan", "memtrace-plan 1\nend\n");
  ExpectRefusal("memtrace run --allocator native --plan run.plan -- true", 2,
                "remove --allocator native");
}

TEST_F(CommandLineTest, RunPassesThePlanToTheProgram) {
  shell_.Write("run.plan", "memtrace-plan 1\nend\n");
  const std::string show = " -- sh -c 'basename \"$MEMTRACE_PLAN\"'";
  EXPECT_EQ(shell_.Run(WithPackage("memtrace run -q --plan run.plan" + show)).out, "run.plan\n");
  EXPECT_EQ(shell_.Run(WithPackage("MEMTRACE_PLAN=other memtrace run -q" + show)).out, "other\n");
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

TEST_F(CommandLineTest, RunOfAScriptSuggestsPython) {
  shell_.Write("train.py", "print(1)\n");
  ExpectRefusal("memtrace run train.py", 127, "write memtrace run -- python train.py");
  ExpectRefusal("memtrace run ./train.py --lr 1", 126, "write memtrace run -- python ./train.py");
  ExpectRefusal("memtrace run -- other.py", 127, "write memtrace run -- python other.py");
  ExpectRefusal(WithPackage("chmod +x train.py; memtrace run -q ./train.py"), 126,
                "write memtrace run -- python ./train.py");
  EXPECT_THAT(shell_.Run("memtrace run true.exe").err, testing::Not(HasSubstr("python")));
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
  EXPECT_THAT(shell_.Run("memtrace report other.trace").out,
              testing::Not(HasSubstr("more process")));
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

TEST_F(CommandLineTest, RunRejectsInvalidArgumentsBeforeStarting) {
  ExpectRefusal("memtrace run", 2, "no command to run");
  ExpectRefusal("memtrace run --", 2, "no command to run");
  ExpectRefusal("memtrace run --card 24GB -- true", 2, "24GiB");
  ExpectRefusal("memtrace run --allocator mine -- true", 2, "--allocator");
  ExpectRefusal("memtrace run -- no-such-program", 127, "command not found: no-such-program");
  ExpectRefusal("memtrace run -- ./none", 127, "there is no program ./none");
  ExpectRefusal(": >data; memtrace run -- ./data", 126, "./data is not executable");
  ExpectRefusal("memtrace run -- python3 -u none.py", 2, "there is no script none.py");
  ExpectRefusal("memtrace run -o no/dir/run.trace -- true", 2, "does not exist");
  ExpectRefusal("mkdir -p d; memtrace run -o d -- true", 2, "d is a folder");
  ExpectRefusal("export MEMTRACE_HOME=/nowhere; memtrace run -- true", 5, "MEMTRACE_HOME");
}

TEST_F(CommandLineTest, RunSaysThatTheHostIsTooSmallForTheRanks) {
  const std::string run = "memtrace run --card 8xh100-80gb --world 100000 -o traces/ ";
  EXPECT_THAT(shell_.Run(run + "--ranks 0-99999 -- ./absent").err,
              ContainsRegex("100000 ranks with torch need more than 29296.88 GiB of this machine's "
                            "memory, and [0-9.]+ [KMG]iB are available; --ranks auto"));
  EXPECT_THAT(shell_.Run(run + "--ranks 0 -- ./absent").err, Not(HasSubstr("ranks with torch")));
}

TEST_F(CommandLineTest, RunDoesNotOverwriteATraceUnlessForced) {
  ExpectRefusal("echo old >run.trace; memtrace run -o run.trace -- true", 2, "-f overwrites it");
  EXPECT_EQ(ReadFile(shell_.Path("run.trace")), "old\n");
  const Outcome forced = shell_.Run(WithPackage("memtrace run -f -o run.trace -- true"));
  EXPECT_EQ(forced.code, 0) << forced.err;
}

TEST_F(CommandLineTest, RunReturnsTheStatusOfItsProgram) {
  EXPECT_EQ(shell_.Run(WithPackage("memtrace run -q -- sh -c 'exit 3'")).code, 3);
  EXPECT_EQ(shell_.Run(WithPackage("memtrace run -q -- sh -c 'kill -9 $$'")).code, 137);
  EXPECT_EQ(shell_.Run(WithPackage("memtrace run -q -- sh -c 'kill -SEGV $$'")).code, 139);
}

TEST_F(CommandLineTest, RunForwardsSignals) {
  const Outcome outcome = shell_.Run(WithPackage(
      "memtrace run -q -- sh -c 'trap \"echo bye; exit 7\" TERM; while :; do sleep 0.05; "
      "done' & sleep 0.3; kill -TERM $!; wait $!"));
  EXPECT_EQ(outcome.code, 7);
  EXPECT_EQ(outcome.out, "bye\n");
}

TEST_F(CommandLineTest, RunPassesOptionsInTheEnvironment) {
  const Outcome outcome = shell_.Run(
      WithPackage("PYTHONPATH=/mine memtrace run -q --card 24GiB --card 2x8GiB -o run.trace "
                  "--allocator native -- sh -c 'echo $PYTHONPATH; echo $MEMTRACE_CARD; "
                  "echo $MEMTRACE_OUTPUT; echo $MEMTRACE_ALLOCATOR; "
                  "echo \"$MEMTRACE_COMMAND\"' name --flag"));
  EXPECT_THAT(outcome.out, HasSubstr("package/inject:/mine\n24GiB;2x8GiB\n"));
  EXPECT_THAT(outcome.out, HasSubstr("/here/run.trace\nnative\n[\"sh\",\"-c\","));
  EXPECT_THAT(outcome.out, HasSubstr("\"name\",\"--flag\"]"));
}

TEST_F(CommandLineTest, DashesAfterTheProgramArePassedOn) {
  const Outcome outcome = shell_.Run(WithPackage("memtrace run -q echo one -- -q two"));
  EXPECT_EQ(outcome.out, "one -- -q two\n");
}

TEST_F(CommandLineTest, SimulatedCardIsPreloadedIntoOtherPrograms) {
  const std::string run = WithPackage("memtrace run -q --card 1GiB -- ");
  // The shell needs no library of CUDA, so it gets those that serve any; programs that it starts
  // find the others by name.
  EXPECT_THAT(
      shell_.Run(run + "sh -c 'echo $LD_PRELOAD' 2>/dev/null").out,
      AllOf(HasSubstr("libcudnn.so.9:"), HasSubstr("libcuda.so.1"), Not(HasSubstr("libcudart"))));
  EXPECT_THAT(shell_.Run(run + "sh -c 'echo $LD_LIBRARY_PATH' 2>/dev/null").out,
              ContainsRegex("^[^:]*package/lib/simulated_card"));
  EXPECT_EQ(shell_.Run(run + "python3 -c 'import os; print(os.environ.get(\"LD_PRELOAD\"))'").out,
            "None\n");
}

TEST_F(CommandLineTest, PreloadLibraryComesBeforeAnyDriver) {
  const std::string make = "mkdir -p ../package/lib; : >../package/lib/libmemtrace_preload.so; ";
  const std::string show = " -- sh -c 'echo $LD_PRELOAD' 2>/dev/null";
  const auto run = [&](const std::string& options) {
    return shell_
        .Run(make + "export LD_PRELOAD=/users.so; " +
             WithPackage("memtrace run -q " + options + show))
        .out;
  };
  EXPECT_THAT(run(""), EndsWith("package/lib/libmemtrace_preload.so:/users.so\n"));
  EXPECT_THAT(run("--card 1GiB"),
              ContainsRegex("^[^:]*/libmemtrace_preload.so:.*libcuda.so.1:.*/users.so\n$"));
  // Other libraries' requests also find room without a trace.
  EXPECT_THAT(run("--no-trace"), EndsWith("package/lib/libmemtrace_preload.so:/users.so\n"));
}

TEST_F(CommandLineTest, RunNamesTheTraceAndTheNextCommand) {
  const Outcome wrote =
      shell_.Run(WithPackage("memtrace run -o a.trace -- sh -c 'echo >$MEMTRACE_OUTPUT'"));
  EXPECT_EQ(wrote.err, "memtrace: wrote a.trace; next: memtrace report a.trace\n");
  const Outcome named = shell_.Run(WithPackage("memtrace run -- sh -c 'echo >memtrace-x.7.trace'"));
  EXPECT_THAT(named.err, HasSubstr("next: memtrace report memtrace-x.7.trace"));
  EXPECT_THAT(shell_.Run(WithPackage("memtrace run -- true")).err, HasSubstr("did not use CUDA"));
  EXPECT_THAT(shell_.Run(WithPackage("memtrace run -q -- true")).err, IsEmpty());
}

TEST_F(CommandLineTest, RunSaysHowAFailedProgramEnded) {
  const auto run = [&](const std::string& options, const std::string& script) {
    return shell_.Run(WithPackage("memtrace run " + options + " -- sh -c '" + script + "'"));
  };
  const Outcome failed = run("-o a.trace", "echo >$MEMTRACE_OUTPUT; exit 3");
  EXPECT_EQ(failed.code, 3);
  EXPECT_EQ(failed.err,
            "memtrace: the program ended with exit code 3\n"
            "memtrace: wrote a.trace; next: memtrace report a.trace\n");
  EXPECT_THAT(run("", "kill -SEGV $$").err, HasSubstr("was ended by signal SIGSEGV\n"));
  const Outcome killed = run("", "kill -KILL $$");
  EXPECT_EQ(killed.code, 137);
  EXPECT_THAT(killed.err, HasSubstr("was killed by SIGKILL; perhaps the host ran out of memory\n"));
  EXPECT_THAT(run("", "exit 137").err, HasSubstr("exit code 137: a process that it started was"));
  EXPECT_THAT(run("-q", "exit 3").err, IsEmpty());
  EXPECT_THAT(run("", "exit 0").err, Not(HasSubstr("ended with")));
}

TEST_F(CommandLineTest, SwitchedOffRunIsPlainAndReportedOnce) {
  const Outcome outcome = shell_.Run(
      "MEMTRACE=0 memtrace run -- sh -c 'echo ${PYTHONPATH-plain} ${MEMTRACE_COMMAND-plain}'");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "plain plain\n");
  EXPECT_EQ(outcome.err,
            "memtrace: MEMTRACE=0 is set, so the program runs without memtrace and no trace is "
            "written\n");
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
