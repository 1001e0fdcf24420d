// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/checkpoint_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/units.h"
#include "tests/profiler/trace/file_blocks.h"

namespace memtrace::trace {
namespace {

using ::testing::ElementsAre;

class CheckpointRecordsTest : public testing::Test {
 protected:
  void Write(uint64_t sequence, uint64_t address) {
    const Allocate event{.address = address, .requested = 512, .allocated = 512};
    uint8_t* room = blocks_.EventRoom(MaxRecordBytes(event));
    RecordEncoder record(KindOf<Allocate>(), room, blocks_.delta());
    record.Moment(sequence, 0);
    CodeFields(record, event);
    blocks_.CommitEvents(record.Finish(), 1, /*at_once=*/true);
  }
  // Returns a line for each record: "begin 40 at 4000", "end of 2", "restated", or the address of
  // an event, whose other fields are skipped.
  std::vector<std::string> Records() const {
    std::vector<std::string> lines;
    const FileBlock block = BlocksOf(path_).at(0);
    DeltaState delta{.sequence = block.header.first_sequence - 1};
    block.ForEachRecord([&](const RawRecord& record) {
      Event event;
      if (record.kind == RecordKind::kCheckpoint) {
        lines.push_back(Mark(record));
      } else if (RestatedEvent(record.kind) != RecordKind::kNone) {
        lines.emplace_back("restated");
      } else if (DecodeEvent(record, delta, &event)) {
        lines.push_back("#" + std::to_string(event.sequence) + " " +
                        std::to_string(std::get<Allocate>(event.payload).address));
      }
    });
    return lines;
  }
  static std::string Mark(const RawRecord& record) {
    DeltaState unused;
    RecordDecoder decoder(record, unused);
    uint64_t restated_plus_one = 0;
    uint64_t sequence = 0;
    uint64_t time_ns = 0;
    decoder.Number(restated_plus_one);
    decoder.Number(sequence);
    decoder.Number(time_ns);
    if (restated_plus_one > 0) return "end of " + std::to_string(restated_plus_one - 1);
    return "begin " + std::to_string(sequence) + " at " + std::to_string(time_ns);
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  RecordBlocks blocks_{*TraceFile::Create(path_, {}, {.keep_bytes = 4 << 20})};
  CheckpointRecords checkpoint_{blocks_};
};

TEST_F(CheckpointRecordsTest, EndRecordCountsRestatedRecords) {
  checkpoint_.Begin(40, 4000);
  checkpoint_.Restate(Alive{});
  checkpoint_.Restate(Map{});
  checkpoint_.End();
  EXPECT_THAT(Records(), ElementsAre("begin 40 at 4000", "restated", "restated", "end of 2"));
}

TEST_F(CheckpointRecordsTest, SecondBeginAbandonsTheFirst) {
  checkpoint_.Begin(40, 4000);
  checkpoint_.Restate(Alive{});
  checkpoint_.Begin(50, 5000);
  checkpoint_.Restate(Alive{});
  checkpoint_.End();
  EXPECT_EQ(Records().back(), "end of 1");
}

// A reader that began earlier skips restated records.
TEST_F(CheckpointRecordsTest, EventsAreDecodedIndependentlyOfRestatedRecords) {
  Write(1, 1_MiB);
  checkpoint_.Begin(1, 0);
  Write(2, 2_MiB);
  checkpoint_.Restate(Alive{.block = {.address = 7_MiB}});
  Write(3, 3_MiB);
  checkpoint_.End();
  Write(4, 4_MiB);
  EXPECT_THAT(Records(), ElementsAre("#1 1048576", "begin 1 at 0", "#2 2097152", "restated",
                                     "#3 3145728", "end of 1", "#4 4194304"));
}

TEST_F(CheckpointRecordsTest, RestatedRecordsAreDecodedOnTheirOwn) {
  Write(1, 1_MiB);
  checkpoint_.Begin(1, 0);
  Write(2, 2_MiB);
  for (const uint64_t address : {7_MiB, 9_MiB}) {
    checkpoint_.Restate(Map{.device = 3, .address = address, .size = 512});
    Write(address, address / 2);
  }
  checkpoint_.End();
  std::vector<std::string> restated;
  DeltaState delta;
  BlocksOf(path_).at(0).ForEachRecord([&](const RawRecord& record) {
    const RecordKind kind = RestatedEvent(record.kind);
    Event event;
    if (kind == RecordKind::kNone) return;
    ASSERT_TRUE(DecodeEvent({.kind = kind, .body = record.body, .end = record.end}, delta, &event));
    const auto& map = std::get<Map>(event.payload);
    restated.push_back(std::to_string(map.device) + " " + std::to_string(map.address >> 20));
  });
  EXPECT_THAT(restated, ElementsAre("3 7", "3 9"));
}

TEST_F(CheckpointRecordsTest, NothingIsWrittenWithoutRoom) {
  checkpoint_.Begin(1, 0);
  blocks_.Abandon();
  checkpoint_.Restate(Alive{});
  checkpoint_.End();
  EXPECT_THAT(Records(), ElementsAre("begin 1 at 0"));
}

}  // namespace
}  // namespace memtrace::trace
