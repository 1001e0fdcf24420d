// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A program of several threads on the recorder, killed at random moments: MEMTRACE_KILLS times for
// each kind (30 by default; 500 give the documented 1,000).
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <thread>
#include <vector>

#include "profiler/trace/coding/format.h"
#include "tests/profiler/recorder/recorder_fixture.h"

namespace memtrace::recorder {
namespace {

constexpr size_t kThreads = 3;
constexpr Bytes kApart = 1024_GiB;  // distance of the threads' addresses

// Counts the events that each thread has certainly written; the parent can read it.
using Published = std::array<std::atomic<uint64_t>, kThreads>;

class Program {
 public:
  Program(Recorder& recorder, Published& published) : recorder_(recorder), published_(published) {}

  // Runs until the process is killed. An allocation's size is its number in its thread.
  void RunForEver() {
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([this, thread] { Loop(thread); });
    }
    threads.front().join();
  }

 private:
  void Loop(size_t thread) {
    for (uint64_t number = 1;; ++number) {
      const ContextId context = recorder_.scopes().CurrentContext(
          recorder_.stacks().Intern(FramesOf({number / 1000 + 1, thread + 1})));
      recorder_.blocks().Allocated(Block(thread, number, context));
      published_[thread].store(number, std::memory_order_release);
      if (number > 500) recorder_.blocks().Freed(Block(thread, number - 500, ContextId{}));
      if (number % 5000 == 0) recorder_.program().BeginStep();
    }
  }
  static BlockEvent Block(size_t thread, uint64_t number, ContextId context) {
    return {.pool = {},
            .address = DeviceAddress{kApart * (thread + 1) + 512 * (number % 501)},
            .requested = number,
            .allocated = RoundUp(number, 512),
            .context = context};
  }

  Recorder& recorder_;
  Published& published_;
};

class RecorderKillTest : public testing::TestWithParam<uint64_t> {
 protected:
  RecorderKillTest() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    published_ = new (page) Published{};
    std::string name = (std::filesystem::temp_directory_path() / "memtrace-kill-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~RecorderKillTest() override {
    munmap(published_, 4096);
    std::filesystem::remove_all(folder_);
  }

  std::string path() const { return folder_ / "run.trace"; }

  // Kills the program `after_us` microseconds after each thread has published `published` events.
  void RunAndKill(useconds_t after_us, uint64_t published = 1) {
    for (auto& count : *published_) count = 0;
    std::filesystem::remove(path());
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      NumberSymbolizer symbolizer;
      Recorder recorder(
          *trace::TraceWriter::Open(path(), {}, {.keep_bytes = GetParam(), .with_summary = true}),
          symbolizer);
      Program(recorder, *published_).RunForEver();
      _exit(1);
    }
    for (int i = 0; i < 200'000 && (*published_)[kThreads - 1] < published; ++i) usleep(50);
    usleep(after_us);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }

  void ExpectAllThatWasPublished() {
    const auto reader = trace::TraceReader::Open(path());
    ASSERT_TRUE(reader.ok()) << reader.status();
    const trace::Completeness& state = reader->completeness();
    ASSERT_TRUE(state.whole()) << state.first_bad_offset;
    ASSERT_FALSE(state.live_set_missing);
    dropped_ += state.dropped_events;
    std::array<uint64_t, kThreads> last{};
    uint64_t sequence = state.dropped_events;
    reader->ForEach([&](const trace::Event& event) {
      if (const auto* alive = std::get_if<trace::Alive>(&event.payload)) {
        uint64_t& newest = last.at(alive->block.address / kApart - 1);
        newest = std::max(newest, alive->block.requested);
        return;
      }
      if (std::holds_alternative<trace::Resume>(event.payload)) return;
      ASSERT_EQ(event.sequence, ++sequence);
      const auto* block = std::get_if<trace::Allocate>(&event.payload);
      if (block == nullptr) return;
      uint64_t& newest = last.at(block->address / kApart - 1);
      ASSERT_EQ(block->requested, newest + 1);
      newest = block->requested;
    });
    for (size_t thread = 0; thread < kThreads; ++thread) {
      const uint64_t published = (*published_)[thread];
      ASSERT_GE(last[thread], published) << "what was published is lost";
      ASSERT_LE(last[thread], published + 1) << "more than the one in the making";
    }
  }

  std::filesystem::path folder_;
  Published* published_ = nullptr;
  uint64_t dropped_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Keeps, RecorderKillTest, testing::Values(0, trace::kLeastKeptBytes),
                         [](const auto& which) {
                           return which.param == 0 ? "Everything" : "TheLastPart";
                         });

TEST_P(RecorderKillTest, PublishedEventsSurviveAKill) {
  const char* asked = std::getenv("MEMTRACE_KILLS");
  const int kills = asked == nullptr ? 30 : static_cast<int>(std::strtol(asked, nullptr, 10));
  std::mt19937_64 random(17);
  for (int i = 0; i < kills; ++i) {
    // The first kill certainly finds a full file: each thread takes some 11 bytes per block.
    const uint64_t published = i == 0 && GetParam() != 0 ? GetParam() / 24 : 1;
    RunAndKill(static_cast<useconds_t>(random() % (GetParam() == 0 ? 20'000 : 150'000)), published);
    ExpectAllThatWasPublished();
    if (HasFatalFailure()) FAIL() << "kill " << i;
  }
  if (GetParam() != 0) {
    EXPECT_GT(dropped_, 0U) << "no file was ever full";
  }
}

}  // namespace
}  // namespace memtrace::recorder
