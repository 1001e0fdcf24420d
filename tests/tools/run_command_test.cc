// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// memtrace run as typed at a prompt: what it refuses, what it passes on, and how it ends.
#include "tests/tools/command_line_fixture.h"

namespace memtrace {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using RunCommandTest = CommandLineTest;

TEST_F(RunCommandTest, HostValuesFollowOptionsAndIgnoreTheEnvironment) {
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

TEST_F(RunCommandTest, InvalidHostValuesAreRejected) {
  ExpectRefusal("memtrace run --host-values on -- true", 2, "add --card");
  ExpectRefusal("memtrace run --card 24GiB --host-values /not/there -- true", 2,
                "there is no file /not/there");
  ExpectRefusal("memtrace run --card 24GiB --host-values off --generate-length 5 -- true", 2,
                "--generate-length needs host values");
  ExpectRefusal("memtrace run --generate-length 5 -- true", 2, "add --card");
}

TEST_F(RunCommandTest, RunRejectsAnUnusablePlan) {
  shell_.Write("broken.plan", "memtrace-plan 1\nend");
  ExpectRefusal("memtrace run --plan broken.plan -- true", 2,
                "--plan: broken.plan: line 2: the file ends early; memtrace plan makes a plan");
  ExpectRefusal("memtrace run --plan no.plan -- true", 2, "cannot open no.plan");
  shell_.Write("run.plan", "memtrace-plan 1\nend\n");
  ExpectRefusal("memtrace run --allocator native --plan run.plan -- true", 2,
                "remove --allocator native");
}

TEST_F(RunCommandTest, RunPassesThePlanToTheProgram) {
  shell_.Write("run.plan", "memtrace-plan 1\nend\n");
  const std::string show = " -- sh -c 'basename \"$MEMTRACE_PLAN\"'";
  EXPECT_EQ(shell_.Run(WithPackage("memtrace run -q --plan run.plan" + show)).out, "run.plan\n");
  EXPECT_EQ(shell_.Run(WithPackage("MEMTRACE_PLAN=other memtrace run -q" + show)).out, "other\n");
}

TEST_F(RunCommandTest, RunOfAScriptSuggestsPython) {
  shell_.Write("train.py", "print(1)\n");
  ExpectRefusal("memtrace run train.py", 127, "write memtrace run -- python train.py");
  ExpectRefusal("memtrace run ./train.py --lr 1", 126, "write memtrace run -- python ./train.py");
  ExpectRefusal("memtrace run -- other.py", 127, "write memtrace run -- python other.py");
  ExpectRefusal(WithPackage("chmod +x train.py; memtrace run -q ./train.py"), 126,
                "write memtrace run -- python ./train.py");
  EXPECT_THAT(shell_.Run("memtrace run true.exe").err, Not(HasSubstr("python")));
}

TEST_F(RunCommandTest, RunRejectsInvalidArgumentsBeforeStarting) {
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

TEST_F(RunCommandTest, RunSaysThatTheHostIsTooSmallForTheRanks) {
  const std::string run = "memtrace run --card 8xh100-80gb --world 100000 -o traces/ ";
  EXPECT_THAT(shell_.Run(run + "--ranks 0-99999 -- ./absent").err,
              ContainsRegex("100000 ranks with torch need more than 29296.88 GiB of this machine's "
                            "memory, and [0-9.]+ [KMG]iB are available; --ranks auto"));
  EXPECT_THAT(shell_.Run(run + "--ranks 0 -- ./absent").err, Not(HasSubstr("ranks with torch")));
}

TEST_F(RunCommandTest, RunDoesNotOverwriteATraceUnlessForced) {
  ExpectRefusal("echo old >run.trace; memtrace run -o run.trace -- true", 2, "-f overwrites it");
  EXPECT_EQ(ReadFile(shell_.Path("run.trace")), "old\n");
  const Outcome forced = shell_.Run(WithPackage("memtrace run -f -o run.trace -- true"));
  EXPECT_EQ(forced.code, 0) << forced.err;
}

TEST_F(RunCommandTest, RunReturnsTheStatusOfItsProgram) {
  EXPECT_EQ(shell_.Run(WithPackage("memtrace run -q -- sh -c 'exit 3'")).code, 3);
  EXPECT_EQ(shell_.Run(WithPackage("memtrace run -q -- sh -c 'kill -9 $$'")).code, 137);
  EXPECT_EQ(shell_.Run(WithPackage("memtrace run -q -- sh -c 'kill -SEGV $$'")).code, 139);
}

TEST_F(RunCommandTest, RunForwardsSignals) {
  const Outcome outcome = shell_.Run(WithPackage(
      "memtrace run -q -- sh -c 'trap \"echo bye; exit 7\" TERM; while :; do sleep 0.05; "
      "done' & sleep 0.3; kill -TERM $!; wait $!"));
  EXPECT_EQ(outcome.code, 7);
  EXPECT_EQ(outcome.out, "bye\n");
}

TEST_F(RunCommandTest, RunPassesOptionsInTheEnvironment) {
  const Outcome outcome = shell_.Run(
      WithPackage("PYTHONPATH=/mine memtrace run -q --card 24GiB --card 2x8GiB -o run.trace "
                  "--allocator native -- sh -c 'echo $PYTHONPATH; echo $MEMTRACE_CARD; "
                  "echo $MEMTRACE_OUTPUT; echo $MEMTRACE_ALLOCATOR; "
                  "echo \"$MEMTRACE_COMMAND\"' name --flag"));
  EXPECT_THAT(outcome.out, HasSubstr("package/inject:/mine\n24GiB;2x8GiB\n"));
  EXPECT_THAT(outcome.out, HasSubstr("/here/run.trace\nnative\n[\"sh\",\"-c\","));
  EXPECT_THAT(outcome.out, HasSubstr("\"name\",\"--flag\"]"));
}

TEST_F(RunCommandTest, DashesAfterTheProgramArePassedOn) {
  const Outcome outcome = shell_.Run(WithPackage("memtrace run -q echo one -- -q two"));
  EXPECT_EQ(outcome.out, "one -- -q two\n");
}

TEST_F(RunCommandTest, SimulatedCardIsPreloadedIntoOtherPrograms) {
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

TEST_F(RunCommandTest, PreloadLibraryComesBeforeAnyDriver) {
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

TEST_F(RunCommandTest, RunNamesTheTraceAndTheNextCommand) {
  const Outcome wrote =
      shell_.Run(WithPackage("memtrace run -o a.trace -- sh -c 'echo >$MEMTRACE_OUTPUT'"));
  EXPECT_EQ(wrote.err, "memtrace: wrote a.trace; next: memtrace report a.trace\n");
  const Outcome named = shell_.Run(WithPackage("memtrace run -- sh -c 'echo >memtrace-x.7.trace'"));
  EXPECT_THAT(named.err, HasSubstr("next: memtrace report memtrace-x.7.trace"));
  EXPECT_THAT(shell_.Run(WithPackage("memtrace run -- true")).err, HasSubstr("did not use CUDA"));
  EXPECT_THAT(shell_.Run(WithPackage("memtrace run -q -- true")).err, IsEmpty());
}

TEST_F(RunCommandTest, RunSaysHowAFailedProgramEnded) {
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

TEST_F(RunCommandTest, SwitchedOffRunIsPlainAndReportedOnce) {
  const Outcome outcome = shell_.Run(
      "MEMTRACE=0 memtrace run -- sh -c 'echo ${PYTHONPATH-plain} ${MEMTRACE_COMMAND-plain}'");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out, "plain plain\n");
  EXPECT_EQ(outcome.err,
            "memtrace: MEMTRACE=0 is set, so the program runs without memtrace and no trace is "
            "written\n");
}

}  // namespace
}  // namespace memtrace
