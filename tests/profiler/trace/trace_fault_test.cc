// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>

#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

using testing::HasSubstr;

constexpr size_t kMoreThanOneStep = 200'000;  // some 2 MiB of events

Allocate Block(uint64_t sequence) {
  return {.address = 512 * (sequence * 7919 % 100'003), .requested = sequence % 9000 + 1};
}

// Runs `body` in a forked child that is killed after ten seconds; returns its pid.
pid_t Fork(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(10);
  body();
  _exit(0);
}

int Wait(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

int DescriptorOf(const std::string& path) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == std::filesystem::canonical(path))
      return std::stoi(entry.path().filename());
  }
  return -1;
}

class TraceFaultTest : public TraceFixture, public testing::WithParamInterface<bool> {
 protected:
  TraceFileOptions Options() const { return {.map_pages = GetParam()}; }

  // Writes `count` events and returns the reasons that Write reported.
  std::vector<absl::Status> WriteUntilStopped(size_t count) {
    std::vector<absl::Status> told;
    for (size_t i = 0; i < count; ++i) {
      ++sequence_;
      absl::Status written = writer_->Write(sequence_, 1000 * sequence_, Block(sequence_));
      if (!written.ok()) told.push_back(std::move(written));
    }
    return told;
  }
  // Expects that all events are in the file or counted, without gaps from the first one.
  void ExpectAllAccountedFor(const std::string& path, const std::string& reason) {
    const TraceReader reader = MustOpen(path);
    const std::vector<Event> events = EventsOf(reader);
    const Completeness& state = reader.completeness();
    ASSERT_FALSE(events.empty());
    EXPECT_GT(state.lost_events, 0U);
    EXPECT_EQ(events.size() - 1 + state.lost_events, sequence_);
    const Lost* lost = std::get_if<Lost>(&events.back().payload);
    ASSERT_NE(lost, nullptr);
    EXPECT_EQ(lost->events, state.lost_events);
    EXPECT_THAT(std::string(reader.String(lost->reason)), HasSubstr(reason));
    EXPECT_TRUE(state.whole());
  }
};

INSTANTIATE_TEST_SUITE_P(Storage, TraceFaultTest, testing::Bool(),
                         [](const auto& which) { return which.param ? "SharedPages" : "Flushed"; });

TEST_P(TraceFaultTest, RecordingStopsAtTheFileSizeLimitAndIsReportedOnce) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  Begin(Options());
  const rlimit tight{.rlim_cur = 1'200'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  const auto told = WriteUntilStopped(kMoreThanOneStep);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].ToString(), HasSubstr(path_));
  EXPECT_EQ(writer_->loss().status(), told[0]);
  Close();
  ExpectAllAccountedFor(path_, "File too large");
}

TEST_P(TraceFaultTest, RecordingStopsOnAFullDiskAndIsReportedOnce) {
  const std::string disk = folder_.File("disk");
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=1280k") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs (not root?)";
  }
  writer_ = *TraceWriter::Open(disk + "/run.trace", {}, Options());
  const auto told = WriteUntilStopped(kMoreThanOneStep);
  Close();
  EXPECT_EQ(told.size(), 1U);
  ExpectAllAccountedFor(disk + "/run.trace", "No space left on device");
  umount(disk.c_str());
}

TEST_P(TraceFaultTest, DeletedFileEndsRecording) {
  Begin(Options());
  WriteAllocations(10);
  std::filesystem::remove(path_);
  const auto told = WriteUntilStopped(kMoreThanOneStep);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_TRUE(absl::IsNotFound(told[0])) << told[0];
  EXPECT_GT(writer_->loss().lost_events(), 0U);
}

TEST_P(TraceFaultTest, DescriptorReusedByTheProgramIsNotTouched) {
  Begin(Options());
  WriteAllocations(1000);  // more than is kept in memory if pages cannot be shared
  const int descriptor = DescriptorOf(path_);
  const std::string own = folder_.File("own");
  close(descriptor);
  const int opened = open(own.c_str(), O_RDWR | O_CREAT, 0666);
  ASSERT_EQ(dup2(opened, descriptor), descriptor);
  const auto told = WriteUntilStopped(kMoreThanOneStep);
  Close();
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].ToString(), HasSubstr("the program closed the descriptor"));
  EXPECT_EQ(std::filesystem::file_size(own), 0U);
  EXPECT_EQ(fcntl(descriptor, F_GETFD), 0);
  EXPECT_FALSE(Read().empty());
  close(descriptor);
  close(opened);
}

TEST_P(TraceFaultTest, ForkedChildLeavesTheFileAlone) {
  Begin(Options());
  WriteAllocations(100);
  const int status = Wait(Fork([&] {
    writer_->AbandonInForkedChild();
    WriteUntilStopped(1000);
    writer_->Close();
    writer_.reset();
  }));
  EXPECT_EQ(status, 0);
  WriteAllocations(100);
  Close();
  EXPECT_EQ(Read().size(), 200U);
  EXPECT_TRUE(State().whole());
}

TEST_P(TraceFaultTest, ChildDoesNotCloseTheParentsFile) {
  Begin(Options());
  WriteAllocations(100);
  EXPECT_EQ(Wait(Fork([&] { writer_.reset(); })), 0);
  EXPECT_FALSE(State().closed);
  WriteAllocations(100);
  Close();
  EXPECT_EQ(Read().size(), 200U);
}

TEST_P(TraceFaultTest, SecondProcessWithTheSameNameWritesASibling) {
  Begin(Options());
  EXPECT_TRUE(absl::IsAlreadyExists(TraceWriter::Open(path_, {}).status()));
  const std::string sibling = path_ + "." + std::to_string(getpid());
  auto second = TraceWriter::Open(path_, {}, {.if_exists = IfExists::kUseSibling});
  auto third = TraceWriter::Open(path_, {}, {.if_exists = IfExists::kUseSibling});
  ASSERT_TRUE(second.ok() && third.ok());
  EXPECT_EQ((*second)->path(), sibling);
  EXPECT_EQ((*third)->path(), sibling + ".2");
}

TEST_P(TraceFaultTest, OpenFileCanBeReplaced) {
  Begin(Options());
  WriteAllocations(100);
  auto second = *TraceWriter::Open(path_, {}, {.if_exists = IfExists::kReplace});
  WriteAllocations(100);
  Close();
  ASSERT_TRUE(second->Write(1, 1, Step{.number = 1}).ok());
  second->Close();
  EXPECT_EQ(Read().size(), 1U);
}

TEST_P(TraceFaultTest, UnwritableFolderIsNamed) {
  const auto nowhere = TraceWriter::Open(folder_.File("none/run.trace"), {}, Options());
  EXPECT_TRUE(absl::IsNotFound(nowhere.status()));
  if (geteuid() == 0) GTEST_SKIP() << "root may write into read-only folders";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_read);
  const auto writer = TraceWriter::Open(path_, {}, Options());
  EXPECT_TRUE(absl::IsPermissionDenied(writer.status())) << writer.status();
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
}

// Counts the events that the child has written; the parent can read it at any time.
class TraceKillTest : public TraceFixture {
 protected:
  TraceKillTest() {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    published_ = new (page) std::atomic<uint64_t>(0);
  }
  ~TraceKillTest() override { munmap(published_, 4096); }

  // Writes until it is killed.
  void WriteForEver(const TraceFileOptions& options, bool is_slow = false) {
    auto writer = TraceWriter::Open(path_, {{"host", "x"}}, options);
    if (!writer.ok()) return;
    for (uint64_t sequence = 1;; ++sequence) {
      if (sequence % 64 == 0) (*writer)->definitions().String("name " + std::to_string(sequence));
      (*writer)->Write(sequence, 900 * sequence, Block(sequence)).IgnoreError();
      published_->store(sequence, std::memory_order_release);
      if (is_slow && sequence % 20 == 0) usleep(200);
    }
  }

  // Waits at most five seconds, because the child may have failed.
  void WaitForTheFirst() {
    for (int i = 0; i < 100'000 && published_->load() == 0; ++i) usleep(50);
    ASSERT_GT(published_->load(), 0U);
  }

  void KillAfter(std::chrono::microseconds delay, const TraceFileOptions& options) {
    published_->store(0);
    std::filesystem::remove(path_);
    const pid_t child = Fork([&] { WriteForEver(options); });
    WaitForTheFirst();
    usleep(static_cast<useconds_t>(delay.count()));
    kill(child, SIGKILL);
    Wait(child);
  }

  std::atomic<uint64_t>* published_;
};

TEST_F(TraceKillTest, WrittenEventsSurviveAKillAtAnyTime) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 50; ++round) {
    KillAfter(std::chrono::microseconds(random() % 20'000), {});
    const TraceReader reader = MustOpen(path_);
    const std::vector<Event> events = EventsOf(reader);
    // The event that was being written may also be there.
    ASSERT_GE(events.size(), published_->load());
    ASSERT_LE(events.size(), published_->load() + 1);
    ASSERT_EQ(events.back().sequence, events.size());
    ASSERT_FALSE(reader.completeness().closed);
    ASSERT_TRUE(reader.completeness().whole()) << reader.completeness().first_bad_offset;
    ASSERT_EQ(std::get<Allocate>(events.back().payload).requested, Block(events.size()).requested);
  }
}

TEST_F(TraceKillTest, WithoutSharedPagesAKillLosesTheLastPage) {
  std::mt19937_64 random(6);
  for (int round = 0; round < 10; ++round) {
    KillAfter(std::chrono::microseconds(random() % 10'000), {.map_pages = false});
    const TraceReader reader = MustOpen(path_);
    const std::vector<Event> events = EventsOf(reader);
    ASSERT_GE(events.size() + 1000, published_->load());
    ASSERT_EQ(reader.completeness().damaged_blocks, 0U);
  }
}

TEST_F(TraceKillTest, FileIsReadableWhileItIsWritten) {
  const pid_t child = Fork([&] { WriteForEver({}, /*is_slow=*/true); });
  WaitForTheFirst();
  for (int round = 0; round < 30; ++round) {
    const uint64_t before = published_->load();
    const TraceReader reader = MustOpen(path_);
    EXPECT_EQ(reader.completeness().damaged_blocks, 0U);
    const std::vector<Event> events = EventsOf(reader);
    ASSERT_GE(events.size(), before);
    ASSERT_EQ(events.back().sequence, events.size());
    usleep(1000);
  }
  kill(child, SIGKILL);
  Wait(child);
}

}  // namespace
}  // namespace memtrace::trace
