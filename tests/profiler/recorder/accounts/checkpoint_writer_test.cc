// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/checkpoint_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tests/profiler/trace/file_blocks.h"

namespace memtrace::recorder {
namespace {

using ::testing::ElementsAre;

constexpr DeviceIndex kCard{0};
constexpr uint64_t kKept = 4 << 20;

class CheckpointWriterTest : public testing::Test {
 protected:
  // Adds a block; `birth` is also its address, in pages.
  void Add(uint64_t birth) {
    live_.Add(kCard, DeviceAddress{birth << 12}, {.requested = 100 + birth, .birth = birth});
  }
  void Begin(uint64_t sequence) {
    checkpoint_.Begin(*writer_, live_, run_, sequence, /*time_ns=*/0);
  }
  void Continue() { checkpoint_.Continue(writer_->checkpoint(), live_, run_); }
  void Finish() {
    for (int i = 0; i < 100 && checkpoint_.is_running(); ++i) Continue();
    EXPECT_FALSE(checkpoint_.is_running());
  }
  // Returns everything restated so far, as events.
  std::vector<trace::Payload> Restated() const {
    std::vector<trace::Payload> restated;
    trace::DeltaState delta;
    trace::BlocksOf(path_).at(0).ForEachRecord([&](const trace::RawRecord& record) {
      const trace::RecordKind kind = trace::RestatedEvent(record.kind);
      trace::Event event;
      if (kind == trace::RecordKind::kNone) return;
      if (DecodeEvent({.kind = kind, .body = record.body, .end = record.end}, delta, &event)) {
        restated.push_back(event.payload);
      }
    });
    return restated;
  }
  std::multiset<uint64_t> RestatedBirths() const {
    std::multiset<uint64_t> births;
    for (const trace::Payload& payload : Restated()) {
      if (const auto* alive = std::get_if<trace::Alive>(&payload)) births.insert(alive->birth);
    }
    return births;
  }

  trace::TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  std::unique_ptr<trace::TraceWriter> writer_ =
      *trace::TraceWriter::Open(path_, {}, {.keep_bytes = kKept});
  LiveTable live_;
  RunAccount run_;
  CheckpointWriter checkpoint_;
};

// The file has 63 blocks.
TEST_F(CheckpointWriterTest, CheckpointIsDueEachQuarterOfTheFile) {
  uint64_t sequence = 0;
  const auto is_due = [this] { return checkpoint_.is_due(writer_->blocks()); };
  while (!is_due()) {
    ++sequence;
    ASSERT_TRUE(writer_->Write(sequence, 0, trace::Allocate{.address = sequence << 20}).ok());
  }
  EXPECT_EQ(writer_->blocks().begun(), 63U / 4);
  Begin(sequence);
  EXPECT_FALSE(is_due()) << "one is under way";
  Finish();
  EXPECT_FALSE(is_due());
  while (!is_due()) {
    ++sequence;
    ASSERT_TRUE(writer_->Write(sequence, 0, trace::Allocate{.address = sequence << 20}).ok());
  }
  EXPECT_EQ(writer_->blocks().begun(), 2 * (63U / 4));
}

TEST_F(CheckpointWriterTest, FileThatKeepsEverythingNeedsNoCheckpoint) {
  const auto writer = *trace::TraceWriter::Open(folder_.File("all.trace"), {});
  ASSERT_TRUE(writer->Write(1, 0, trace::Step{.number = 1}).ok());
  EXPECT_FALSE(checkpoint_.is_due(writer->blocks()));
}

// No thread waits for a whole live set.
TEST_F(CheckpointWriterTest, EachEventRestatesEightBlocks) {
  for (uint64_t birth = 1; birth <= 20; ++birth) Add(birth);
  Begin(20);
  EXPECT_EQ(RestatedBirths().size(), 0U);
  Continue();
  EXPECT_EQ(RestatedBirths().size(), 8U);
  Continue();
  EXPECT_EQ(RestatedBirths().size(), 16U);
  EXPECT_TRUE(checkpoint_.is_running());
  Continue();
  EXPECT_FALSE(checkpoint_.is_running());
  const auto births = RestatedBirths();
  EXPECT_EQ(births.size(), 20U);
  EXPECT_EQ(std::set(births.begin(), births.end()).size(), 20U) << "each once";
}

TEST_F(CheckpointWriterTest, BlockFreedBeforeItsTurnIsRestatedFirst) {
  for (uint64_t birth = 1; birth <= 3; ++birth) Add(birth);
  Begin(3);
  const auto freed = live_.Remove(kCard, DeviceAddress{2 << 12});
  checkpoint_.Removed(writer_->checkpoint(), run_, {DeviceAddress{2 << 12}, 0}, *freed);
  EXPECT_THAT(RestatedBirths(), ElementsAre(2));
  Finish();
  EXPECT_THAT(RestatedBirths(), ElementsAre(1, 2, 3));
}

TEST_F(CheckpointWriterTest, RestatedBlockIsNotRestatedAgainWhenFreed) {
  for (uint64_t birth = 1; birth <= 10; ++birth) Add(birth);
  Begin(10);
  Continue();
  const auto births = RestatedBirths();
  const DeviceAddress address{*births.begin() << 12};
  const auto freed = live_.Remove(kCard, address);
  checkpoint_.Removed(writer_->checkpoint(), run_, {address, 0}, *freed);
  EXPECT_EQ(RestatedBirths().size(), 8U);
}

// Its own event comes after the beginning of the checkpoint.
TEST_F(CheckpointWriterTest, BlockAllocatedDuringACheckpointIsNotRestated) {
  Add(1);
  Add(2);
  Begin(2);
  live_.Remove(kCard, DeviceAddress{2 << 12});
  live_.Add(kCard, DeviceAddress{2 << 12}, {.requested = 7, .birth = 3});
  const LiveBlock young{.requested = 7, .birth = 4};
  checkpoint_.Removed(writer_->checkpoint(), run_, {DeviceAddress{4 << 12}, 0}, young);
  Finish();
  EXPECT_THAT(RestatedBirths(), ElementsAre(1));
}

TEST_F(CheckpointWriterTest, NextCheckpointRestatesEverything) {
  Add(1);
  for (int i = 0; i < 300; ++i) {  // checkpoints have numbers of eight bits
    live_.Remove(kCard, DeviceAddress{2 << 12});
    Add(2);  // in no checkpoint yet
    Begin(2);
    Finish();
  }
  EXPECT_EQ(RestatedBirths().count(1), 300U);
  EXPECT_EQ(RestatedBirths().count(2), 300U);
}

TEST_F(CheckpointWriterTest, FreesAfterACheckpointAreNotRestated) {
  Add(1);
  Begin(1);
  Finish();
  Add(2);
  const auto freed = live_.Remove(kCard, DeviceAddress{2 << 12});
  checkpoint_.Removed(writer_->checkpoint(), run_, {DeviceAddress{2 << 12}, 0}, *freed);
  EXPECT_THAT(RestatedBirths(), ElementsAre(1));
}

TEST_F(CheckpointWriterTest, EverythingButBlocksIsRestatedAtOnce) {
  run_.Note(trace::Step{.number = 6});
  run_.Note(trace::PhaseChange{.phase = trace::Phase::kForward, .micro_batch = 2});
  run_.Note(trace::Annotate{.key = 1, .value = 2});
  run_.Note(trace::TagChange{.thread = 3, .owner = 4});
  run_.Note(trace::Map{.device = 1, .address = 0x200000, .size = 0x200000});
  run_.Note(trace::CardSample{{.device = 1, .free = 77}});
  run_.Note(trace::OutsideAllocate{.address = 0x900000, .bytes = 55});
  const LiveBlock waiting{.requested = 44, .birth = 1};
  run_.Allocated(kCard, waiting);
  run_.FreeRequested({DeviceAddress{0x1000}, kCard}, waiting, 2);
  Begin(8);
  const auto restated = Restated();
  ASSERT_EQ(restated.size(), 7U);
  const auto& resume = std::get<trace::Resume>(restated[0]);
  EXPECT_EQ(resume.step, 6U);
  EXPECT_EQ(resume.phase, trace::Phase::kForward);
  EXPECT_EQ(resume.forward_seen, 1);
  EXPECT_EQ(resume.micro_batch, 2U);
  EXPECT_EQ(std::get<trace::Annotate>(restated[1]).value, 2U);
  EXPECT_EQ(std::get<trace::TagChange>(restated[2]).owner, 4U);
  EXPECT_EQ(std::get<trace::CardSample>(restated[3]).card.free, 77U);
  EXPECT_EQ(std::get<trace::Map>(restated[4]).address, 0x200000U);
  EXPECT_EQ(std::get<trace::OutsideAllocate>(restated[5]).bytes, 55U);
  EXPECT_EQ(std::get<trace::Alive>(restated[6]).waiting, 1);
}

TEST_F(CheckpointWriterTest, BlockIsRestatedWithTheLabelsOfItsParts) {
  const LiveBlock flat{.requested = 1000, .birth = 1};
  run_.Allocated(kCard, flat);
  live_.Add(kCard, DeviceAddress{0x1000}, flat);
  run_.Labelled({.address = 0x1100, .size = 64, .role = trace::Role::kGradient}, nullptr);
  Begin(2);
  Finish();
  const auto restated = Restated();
  ASSERT_EQ(restated.size(), 3U);
  EXPECT_EQ(std::get<trace::Alive>(restated[1]).block.requested, 1000U);
  const auto& label = std::get<trace::Relabel>(restated[2]);
  EXPECT_EQ(label.address, 0x1100U);
  EXPECT_EQ(label.size, 64U);
  EXPECT_EQ(label.role, trace::Role::kGradient);
}

}  // namespace
}  // namespace memtrace::recorder
