// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Files that keep only their last part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

using testing::HasSubstr;

constexpr uint64_t kKept = kLeastKeptBytes;
constexpr size_t kSeveralTimesTheFile = 3'000'000;

Allocate Block(uint64_t sequence) {
  return {.address = 512 * (sequence * 7919 % 100'003), .requested = sequence % 9000 + 1};
}

class TraceKeepTest : public TraceFixture, public testing::WithParamInterface<bool> {
 protected:
  TraceFileOptions Options() const { return {.map_pages = GetParam(), .keep_bytes = kKept}; }

  // Writes events, with a checkpoint every 100,000 of them that states the step.
  void WriteEvents(size_t count) {
    for (size_t i = 0; i < count && writer_->loss().status().ok(); ++i) {
      ++sequence_;
      writer_->Write(sequence_, 1000 * sequence_, Block(sequence_)).IgnoreError();
      if (sequence_ % 100'000 == 0) WriteCheckpoint();
    }
  }
  void WriteCheckpoint() {
    writer_->checkpoint().Begin(sequence_, 1000 * sequence_);
    writer_->checkpoint().Restate(Resume{.step = sequence_ / 1000, .phase = Phase::kBackward});
    writer_->checkpoint().Restate(Alive{.block = Block(7), .birth = 7, .phase = Phase::kForward});
    ++sequence_;
    writer_->Write(sequence_, 1000 * sequence_, Block(sequence_)).IgnoreError();
    writer_->checkpoint().Restate(
        Alive{.block = Block(8), .birth = 8, .path = writer_->definitions().String("weight")});
    writer_->checkpoint().End();
  }
  // Expects Resume, two living blocks, and then all events from there to the last one written.
  void ExpectTheLastPart(uint64_t at_least) {
    const TraceReader reader = MustOpen(path_);
    const std::vector<Event> events = EventsOf(reader);
    const Completeness& state = reader.completeness();
    EXPECT_TRUE(state.whole()) << state.first_bad_offset;
    ASSERT_GT(state.dropped_events, 0U);
    ASSERT_EQ(state.dropped_events % 100'000, 0U);
    EXPECT_FALSE(state.live_set_missing);
    EXPECT_EQ(state.begins_at_step, state.dropped_events / 1000);
    ASSERT_GE(events.size(), at_least);
    EXPECT_EQ(std::get<Alive>(events[1].payload).birth, 7U);
    EXPECT_EQ(reader.String(std::get<Alive>(events[2].payload).path), "weight");
    for (size_t i = 3; i < events.size(); ++i) {
      ASSERT_EQ(events[i].sequence, state.dropped_events + i - 2);
      ASSERT_EQ(std::get<Allocate>(events[i].payload).requested,
                Block(events[i].sequence).requested);
    }
    EXPECT_EQ(events.back().sequence, sequence_);
  }
};

INSTANTIATE_TEST_SUITE_P(Storage, TraceKeepTest, testing::Bool(),
                         [](const auto& which) { return which.param ? "SharedPages" : "Flushed"; });

TEST_P(TraceKeepTest, LastPartIsKeptAndTheFileDoesNotGrow) {
  Begin(Options());
  for (int part = 0; part < 5; ++part) {
    WriteEvents(kSeveralTimesTheFile / 5);
    struct stat facts {};
    ASSERT_EQ(stat(path_.c_str(), &facts), 0);
    EXPECT_LE(static_cast<uint64_t>(facts.st_size), kKept);
    EXPECT_LE(static_cast<uint64_t>(facts.st_blocks) * 512, kKept);
  }
  Close();
  ExpectTheLastPart(200'000);
  EXPECT_TRUE(State().closed);
}

TEST_P(TraceKeepTest, LastPartIsKeptIfTheTraceIsNotClosed) {
  Begin(Options());
  WriteEvents(kSeveralTimesTheFile);
  // A killed process leaves the file as it is, except for the last page if that needs flushes.
  if (!GetParam()) return;
  ExpectTheLastPart(200'000);
  EXPECT_FALSE(State().closed);
}

TEST_P(TraceKeepTest, TraceThatFitsIsCompleteAndSmall) {
  Begin(Options());
  WriteEvents(150'000);
  Close();
  EXPECT_EQ(EventsOf(MustOpen(path_)).size(), sequence_) << "nothing is said twice";
  EXPECT_EQ(State().dropped_events, 0U);
  EXPECT_LT(std::filesystem::file_size(path_), kKept / 2);
}

TEST_P(TraceKeepTest, OldNamesAreKept) {
  Begin(Options());
  DefinitionWriter& names = writer_->definitions();
  const StringId name = names.String("policy");
  const StackId stack = names.DefineStack(0, names.DefineFrame({.file = "a.py", .function = "f"}));
  WriteEvents(kSeveralTimesTheFile);
  Close();
  const TraceReader reader = MustOpen(path_);
  EXPECT_EQ(reader.String(name), "policy");
  EXPECT_EQ(reader.Stack(stack).at(0).file, "a.py");
}

TEST_P(TraceKeepTest, NamesTakeAtMostAQuarter) {
  Begin(Options());
  StringId last = 1;
  uint64_t count = 0;
  for (; last != 0; ++count) last = writer_->definitions().String("tag " + std::to_string(count));
  EXPECT_GT(count, kKept / 4 / 20);
  EXPECT_LT(count, kKept / 4 / 8);
  WriteEvents(kSeveralTimesTheFile);
  Close();
  EXPECT_LE(std::filesystem::file_size(path_), kKept);
  EXPECT_EQ(MustOpen(path_).String(1), "tag 0");
}

TEST_P(TraceKeepTest, TraceWithoutACheckpointIsReadAndItsGapReported) {
  Begin(Options());
  for (int i = 0; i < 1'000'000; ++i) {
    ++sequence_;
    writer_->Write(sequence_, sequence_, Block(sequence_)).IgnoreError();
    if (i % 100'000 == 0) writer_->checkpoint().Begin(sequence_, sequence_);  // never completed
  }
  Close();
  const Completeness state = State();
  EXPECT_TRUE(state.live_set_missing);
  const std::vector<Event> events = EventsOf(MustOpen(path_));
  EXPECT_EQ(events.front().sequence, state.dropped_events + 1);
  EXPECT_EQ(events.size() + state.dropped_events, sequence_);
}

TEST_P(TraceKeepTest, ReaderDoesNotBeginAtADamagedCheckpoint) {
  Begin(Options());
  WriteEvents(kSeveralTimesTheFile);
  Close();
  const uint64_t first = State().dropped_events;
  std::string bytes = ReadBytes(path_);
  const size_t blocks = bytes.size() / kBlockBytes;
  size_t hit = 0;
  for (size_t block = 0; block < blocks; ++block) {
    std::string damaged = bytes;
    damaged[2 * kPageBytes + block * kBlockBytes + 20'000] ^= 4;
    WriteBytes(path_, damaged);
    const Completeness state = State();
    if (state.whole()) continue;  // unused space was hit
    ++hit;
    EXPECT_EQ(state.damaged_blocks, 1U) << block;
    EXPECT_FALSE(state.live_set_missing) << block;
    EXPECT_GE(state.dropped_events, first) << block;
  }
  EXPECT_GE(hit, blocks - 2);
}

TEST_P(TraceKeepTest, TooSmallAKeepSizeIsRejected) {
  const auto refused = TraceWriter::Open(path_, {}, {.keep_bytes = kKept - 1});
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status()));
  EXPECT_THAT(refused.status().ToString(), HasSubstr("keep at least 4 MiB"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_P(TraceKeepTest, RecordingStopsAtTheFileSizeLimitAndKeepsItsEvents) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  Begin(Options());
  const rlimit tight{.rlim_cur = 2'400'000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  WriteEvents(kSeveralTimesTheFile);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_THAT(writer_->loss().status().ToString(), HasSubstr("File too large"));
  const uint64_t lost = writer_->loss().lost_events();
  Close();
  EXPECT_EQ(EventsOf(MustOpen(path_)).size() - 1, sequence_ - lost);
}

TEST_P(TraceKeepTest, RecordingStopsOnAFullDiskAndKeepsItsEvents) {
  const std::string disk = folder_.File("disk");
  std::filesystem::create_directory(disk);
  if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=2400k") != 0) {
    GTEST_SKIP() << "cannot mount a small tmpfs (not root?)";
  }
  writer_ = *TraceWriter::Open(disk + "/run.trace", {}, Options());
  WriteEvents(kSeveralTimesTheFile);
  EXPECT_THAT(writer_->loss().status().ToString(), HasSubstr("No space left on device"));
  Close();
  EXPECT_TRUE(MustOpen(disk + "/run.trace").completeness().whole());
  EXPECT_GT(EventsOf(MustOpen(disk + "/run.trace")).size(), 50'000U);
  umount(disk.c_str());
}

TEST_P(TraceKeepTest, DeletedFileEndsRecordingEvenIfItNoLongerGrows) {
  Begin(Options());
  WriteEvents(kSeveralTimesTheFile);
  std::filesystem::remove(path_);
  WriteEvents(kSeveralTimesTheFile);
  EXPECT_TRUE(absl::IsNotFound(writer_->loss().status())) << writer_->loss().status();
}

}  // namespace
}  // namespace memtrace::trace
