// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// memtrace top and memtrace snapshot with a recording process, which they find by its number only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <functional>

#include "nlohmann/json.hpp"
#include "tests/profiler/recorder/recorder_fixture.h"
#include "tests/tools/shell.h"

namespace memtrace {
namespace {

using nlohmann::json;
using recorder::Recorder;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RunningProgramTest : public testing::Test {
 protected:
  RunningProgramTest() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    is_ready_ = new (page) std::atomic<bool>(false);
  }
  ~RunningProgramTest() override {
    End();
    munmap(is_ready_, 4096);
  }

  // Starts a child that runs `body`, which says when it is ready; the child lives for a minute at
  // most.
  void Start(const std::function<void()>& body) {
    child_ = fork();
    if (child_ == 0) {
      alarm(60);
      body();
      _exit(0);
    }
    for (int i = 0; i < 100'000 && !is_ready_->load(); ++i) usleep(100);
    ASSERT_TRUE(is_ready_->load());
  }
  // Records a large block of an owner, then a small one again and again.
  void StartRecording() {
    Start([this] {
      recorder::NumberSymbolizer symbolizer;
      Recorder recorder(*trace::TraceWriter::Open(trace(), {}, {.with_summary = true}), symbolizer);
      recorder.scopes().PushTag("policy");
      recorder.blocks().Allocated(Block(DeviceAddress{0x10000}, 300_MiB, recorder));
      recorder.program().BeginStep();
      while (true) {
        recorder.blocks().Allocated(Block(DeviceAddress{0x200}, 100, recorder));
        recorder.blocks().Freed(Block(DeviceAddress{0x200}, 100, recorder));
        is_ready_->store(true);
        usleep(1000);
      }
    });
  }
  static BlockEvent Block(DeviceAddress address, Bytes requested, Recorder& recorder) {
    return {.pool = {},
            .address = address,
            .requested = requested,
            .allocated = RoundUp(requested, 512),
            .context = recorder.scopes().CurrentContext(0)};
  }
  // Waits for the summary of the first second.
  Outcome TopWithHolders() {
    Outcome text;
    for (int i = 0; i < 200 && text.out.find("policy") == std::string::npos; ++i) {
      usleep(100'000);
      text = shell_.Run("memtrace top " + pid());
    }
    return text;
  }
  void End() {
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  std::string pid() const { return std::to_string(child_); }
  std::string trace() const { return shell_.Path("run.trace"); }

  Shell shell_;
  std::atomic<bool>* is_ready_;
  pid_t child_ = 0;
};

TEST_F(RunningProgramTest, TopShowsTheCurrentHolders) {
  StartRecording();
  const Outcome text = TopWithHolders();
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("run.trace"));
  EXPECT_THAT(text.out, HasSubstr("policy"));
  EXPECT_THAT(text.out, HasSubstr("300.0 MiB"));
  EXPECT_THAT(text.out, Not(HasSubstr("\033")));
  const json figures = json::parse(shell_.Run("memtrace top --json " + pid()).out);
  EXPECT_EQ(figures["pid"], child_);
  EXPECT_GE(figures["cards"][0]["live_requested"], 300_MiB);
  EXPECT_EQ(figures["steps"], 1);
}

TEST_F(RunningProgramTest, SnapshotMarksAMomentListedByStats) {
  StartRecording();
  for (const char* number : {"1", "2"}) {
    const Outcome marked = shell_.Run("memtrace snapshot " + pid());
    EXPECT_EQ(marked.code, 0);
    EXPECT_THAT(marked.err, HasSubstr(std::string("snapshot ") + number + " is marked in "));
  }
  End();
  EXPECT_THAT(shell_.Run("memtrace stats run.trace").out, HasSubstr("snapshot 2"));
  const json stats = json::parse(shell_.Run("memtrace stats --json run.trace").out);
  EXPECT_EQ(stats["snapshots"], json({{"1", "step 1"}, {"2", "step 1"}}));
}

TEST_F(RunningProgramTest, SnapshotOfAnIdleProgramIsReported) {
  Start([this] {
    recorder::NumberSymbolizer symbolizer;
    Recorder recorder(*trace::TraceWriter::Open(trace(), {}, {.with_summary = true}), symbolizer);
    recorder.program().BeginStep();
    is_ready_->store(true);
    pause();
  });
  const Outcome marked = shell_.Run("memtrace snapshot --wait 0 " + pid());
  EXPECT_EQ(marked.code, 0);
  EXPECT_THAT(marked.err, HasSubstr("will be marked with the program's next event"));
}

TEST_F(RunningProgramTest, ProcessesThatCannotBeReadAreNamed) {
  const auto refusal = [this](const std::string& command) {
    const Outcome outcome = shell_.Run(command);
    EXPECT_EQ(outcome.code, 3) << command;
    EXPECT_THAT(outcome.out, IsEmpty());
    return outcome.err;
  };
  Start([this] {
    is_ready_->store(true);
    pause();
  });
  EXPECT_THAT(refusal("memtrace top " + pid()), HasSubstr(pid() + " is not recorded"));
  EXPECT_THAT(refusal("memtrace snapshot " + pid()), HasSubstr(pid() + " is not recorded"));
  const std::string ended = pid();
  End();
  EXPECT_THAT(refusal("memtrace top " + ended), HasSubstr("there is no process " + ended));
  EXPECT_EQ(shell_.Run("memtrace top 0").code, 2);
  EXPECT_EQ(shell_.Run("memtrace top x").code, 2);
}

TEST_F(RunningProgramTest, RecordedChildrenOfALauncherAreNamed) {
  StartRecording();
  EXPECT_THAT(shell_.Run("memtrace top " + std::to_string(getpid())).err,
              HasSubstr("these processes below it are recorded: " + pid()));
}

TEST_F(RunningProgramTest, ProcessOfAnotherUserIsRejected) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  StartRecording();
  const Outcome outcome =
      shell_.Run("setpriv --reuid 65534 --clear-groups memtrace top " + pid() + " </dev/null");
  if (outcome.code == 127 || outcome.code == 126) GTEST_SKIP() << outcome.err;
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("belongs to another user"));
}

TEST_F(RunningProgramTest, TopEndsWithTheProgram) {
  StartRecording();
  EXPECT_EQ(shell_
                .Run("memtrace top -n 3 --interval 0.3 " + pid() +
                     " >/dev/null & sleep 0.4; kill -9 " + pid() + "; wait $!")
                .code,
            0);
}

TEST_F(RunningProgramTest, StatsCanUseTheSummaryAlone) {
  StartRecording();
  End();
  const Outcome text = shell_.Run("memtrace stats --summary run.trace");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("run.trace"));
  shell_.Write("old.trace", "");
  shell_.WriteTrace("old.trace", "alloc 0 0x200 requested=1MiB\n");
  const Outcome none = shell_.Run("memtrace stats --summary old.trace");
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("has no summary"));
}

}  // namespace
}  // namespace memtrace
