// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/writing/record_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "profiler/trace/coding/checksum.h"
#include "tests/profiler/trace/file_blocks.h"

namespace memtrace::trace {
namespace {

using ::testing::ElementsAre;

constexpr size_t kFull = kBlockBytes - sizeof(BlockHeader);  // capacity of a block
constexpr uint64_t kKept = 4 << 20;

// Blocks accept any bytes as a record. Runs with shared pages, and without.
class RecordBlocksTest : public testing::TestWithParam<bool> {
 protected:
  void Begin(uint64_t keep_bytes = 0) {
    auto file = TraceFile::Create(path_, {}, {.map_pages = GetParam(), .keep_bytes = keep_bytes});
    ASSERT_TRUE(file.ok()) << file.status();
    blocks_ = std::make_unique<RecordBlocks>(*std::move(file));
  }
  // Writes an event of `bytes` bytes, each of them `mark`.
  void Put(size_t bytes, char mark = 'e', bool at_once = true) {
    uint8_t* room = blocks_->EventRoom(bytes);
    ASSERT_NE(room, nullptr);
    std::memset(room, mark, bytes);
    blocks_->CommitEvents(room + bytes, 1, at_once);
  }
  void PutDefinition(size_t bytes) {
    uint8_t* room = blocks_->DefinitionRoom(bytes);
    ASSERT_NE(room, nullptr);
    std::memset(room, 'd', bytes);
    blocks_->CommitDefinition(room + bytes);
  }
  // Fills blocks until no new one can be begun; the file grows by 16 blocks at a time.
  void FillUntilItStops() {
    for (int i = 0; i < 40; ++i) {
      uint8_t* room = blocks_->EventRoom(kFull);
      if (room == nullptr) return;
      blocks_->CommitEvents(room + kFull, 1, /*at_once=*/true);
    }
    FAIL() << "it does not stop";
  }
  // Closes the trace's descriptor, as a daemon does that closes all open descriptors.
  void CloseDescriptor() const {
    for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(open.path(), gone) == path_) {
        close(std::stoi(open.path().filename()));
        return;
      }
    }
    FAIL() << "the trace is not open";
  }

  static void ExpectSealed(const FileBlock& block) {
    BlockHeader unsealed = block.header;
    unsealed.checksum = 0;
    EXPECT_EQ(block.header.checksum,
              BlockChecksum(unsealed, reinterpret_cast<const uint8_t*>(block.records.data())));
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("run.trace");
  std::unique_ptr<RecordBlocks> blocks_;
};

TEST_P(RecordBlocksTest, RecordsAreInTheFileOnceCommitted) {
  Begin();
  uint8_t* room = blocks_->EventRoom(3);
  std::ranges::copy(std::string_view("abc"), room);
  EXPECT_EQ(BlocksOf(path_).at(0).header.committed, 0U);
  blocks_->CommitEvents(room + 2, 1, /*at_once=*/true);
  EXPECT_EQ(BlocksOf(path_).at(0).records, "ab") << "the rest of the room was not needed";
  Put(1, 'c');
  EXPECT_EQ(BlocksOf(path_).at(0).records, "abc");
}

TEST_P(RecordBlocksTest, BlockIsFilledToItsLastByteAndSealed) {
  Begin();
  Put(kFull - 10);
  Put(10, 'z');
  EXPECT_EQ(blocks_->begun(), 1U);
  EXPECT_EQ(BlocksOf(path_).at(0).header.checksum, 0U) << "it is still open";
  Put(1);
  EXPECT_EQ(blocks_->begun(), 2U);
  const FileBlock first = BlocksOf(path_).at(0);
  EXPECT_EQ(first.header.committed, kFull);
  EXPECT_EQ(first.header.capacity, kBlockBytes);
  EXPECT_EQ(first.records.back(), 'z');
  ExpectSealed(first);
}

// format.md: a reader can begin at any block, so nothing in it refers to earlier blocks.
TEST_P(RecordBlocksTest, DeltasRestartWithEachBlock) {
  Begin();
  Put(kFull);
  blocks_->delta() = {.sequence = 500, .time_ns = 7000, .address = 0x1000, .far = 0x2000};
  blocks_->restated_delta().address = 0x3000;
  Put(1);
  EXPECT_EQ(BlocksOf(path_).at(1).header.first_sequence, 501U);
  EXPECT_EQ(blocks_->delta().sequence, 500U);
  EXPECT_EQ(blocks_->delta().time_ns, 0U);
  EXPECT_EQ(blocks_->delta().address, 0U);
  EXPECT_EQ(blocks_->delta().far, 0U);
  EXPECT_EQ(blocks_->restated_delta().address, 0U);
}

TEST_P(RecordBlocksTest, BlockNumbersAscendWithoutEventsBetween) {
  Begin();
  for (int i = 0; i < 3; ++i) Put(kFull);  // restated records, which use no sequence number
  std::vector<uint64_t> first;
  for (const FileBlock& block : BlocksOf(path_)) first.push_back(block.header.first_sequence);
  EXPECT_THAT(first, ElementsAre(1, 2, 3));
}

TEST_P(RecordBlocksTest, ClosingTruncatesTheFileAfterTheLastRecord) {
  Begin();
  Put(kFull);
  Put(100);
  blocks_->Close();
  const size_t size = 2 * kPageBytes + kBlockBytes + sizeof(BlockHeader) + 100;
  EXPECT_EQ(std::filesystem::file_size(path_), size);
  EXPECT_EQ(FirstPageOf(path_).closed_bytes, size);
  const FileBlock last = BlocksOf(path_).at(1);
  EXPECT_EQ(last.header.capacity, sizeof(BlockHeader) + 100);
  ExpectSealed(last);
  EXPECT_EQ(blocks_->EventRoom(1), nullptr);
  EXPECT_EQ(blocks_->front(), nullptr);
}

// A forked child of which we were not told exits and destroys its copy.
TEST_P(RecordBlocksTest, AnotherProcessDoesNotCloseTheFile) {
  Begin();
  Put(100);
  const pid_t child = fork();
  if (child == 0) {
    blocks_->Close();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(FirstPageOf(path_).closed_bytes, 0U);
  Put(1, 'z');
  EXPECT_EQ(BlocksOf(path_).at(0).records.substr(100), "z");
}

TEST_P(RecordBlocksTest, AbandonedFileIsUnchanged) {
  Begin();
  Put(100);
  const std::string before = ReadBytes(path_);
  blocks_->Abandon();
  EXPECT_EQ(blocks_->EventRoom(1), nullptr);
  EXPECT_TRUE(blocks_->NoteLost(1).ok());
  blocks_->Close();
  EXPECT_EQ(ReadBytes(path_), before);
}

TEST_P(RecordBlocksTest, DeletedFileStopsRecordingAtTheNextGrowth) {
  Begin();
  Put(100);
  std::filesystem::remove(path_);
  FillUntilItStops();
  EXPECT_TRUE(absl::IsNotFound(blocks_->loss().status()));
  EXPECT_EQ(blocks_->EventRoom(1), nullptr);
  EXPECT_EQ(blocks_->DefinitionRoom(1), nullptr);
}

TEST_P(RecordBlocksTest, LossIsWrittenToTheFirstPageAndReturnedOnce) {
  Begin();
  Put(100);
  CloseDescriptor();
  FillUntilItStops();
  EXPECT_TRUE(absl::IsFailedPrecondition(blocks_->NoteLost(2)));
  EXPECT_TRUE(blocks_->NoteLost(3).ok());
  EXPECT_EQ(blocks_->loss().lost_events(), 5U);
  if (!GetParam()) return;  // without shared pages nothing more can be written
  const FileHeader page = FirstPageOf(path_);
  EXPECT_EQ(page.lost_events, 5U);
  EXPECT_THAT(std::string(page.lost_reason.data()), testing::HasSubstr("closed the descriptor"));
}

TEST_P(RecordBlocksTest, FileThatKeepsEverythingMixesEventsAndDefinitions) {
  Begin();
  Put(2);
  PutDefinition(3);
  EXPECT_EQ(BlocksOf(path_).size(), 1U);
  EXPECT_EQ(BlocksOf(path_).at(0).header.committed, GetParam() ? 5U : 2U);
  EXPECT_FALSE(blocks_->DefinitionsAreFull(kFull));
  EXPECT_EQ(blocks_->kept(), 0U);
}

// A reader that finds an event must find the definitions it refers to.
TEST_P(RecordBlocksTest, FileThatDropsBlocksWritesDefinitionsAtOnce) {
  Begin(kKept);
  Put(2);
  PutDefinition(3);
  const auto blocks = BlocksOf(path_);
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[0].header.kind, BlockKind::kEvents);
  EXPECT_EQ(blocks[1].header.kind, BlockKind::kDefinitions);
  EXPECT_EQ(blocks[1].records, "ddd");
}

// The file has 63 blocks: 4 MiB without the first page and the block that describes the process.
TEST_P(RecordBlocksTest, FullFileDropsTheOldestEvents) {
  Begin(kKept);
  EXPECT_EQ(blocks_->kept(), 63U);
  for (uint64_t sequence = 1; sequence <= 64; ++sequence) {
    Put(kFull);
    blocks_->delta().sequence = 10 * sequence;
  }
  const auto blocks = BlocksOf(path_);
  EXPECT_EQ(blocks.size(), 63U);
  EXPECT_EQ(blocks.at(0).header.first_sequence, 631U);
  EXPECT_EQ(blocks.at(1).header.first_sequence, 11U);
  EXPECT_EQ(FirstPageOf(path_).newest_sequence, 631U);
  EXPECT_LE(std::filesystem::file_size(path_), kKept);
}

TEST_P(RecordBlocksTest, ReusedBlockBeginsEmpty) {
  Begin(kKept);
  for (int i = 0; i < 63; ++i) Put(kFull);
  ASSERT_NE(blocks_->EventRoom(1), nullptr);
  const BlockHeader begun = BlocksOf(path_).at(0).header;
  EXPECT_EQ(begun.checksum, 0U);
  EXPECT_EQ(begun.committed, 0U);
}

TEST_P(RecordBlocksTest, DefinitionsAreFullAtAQuarterOfTheFile) {
  Begin(kKept);
  Put(1);
  uint64_t definitions = 0;
  for (; !blocks_->DefinitionsAreFull(kFull); ++definitions) PutDefinition(kFull - 10);
  EXPECT_EQ(definitions, 63U / 4);
  EXPECT_FALSE(blocks_->DefinitionsAreFull(10)) << "that much fits the block that is open";
  EXPECT_TRUE(blocks_->DefinitionsAreFull(11));
  EXPECT_EQ(blocks_->kept(), 63U - definitions);
}

INSTANTIATE_TEST_SUITE_P(Pages, RecordBlocksTest, testing::Bool(),
                         [](const auto& is) { return is.param ? "Shared" : "Written"; });

// A system call for each event would cost too much, so frequent ones are collected.
class WrittenBlocksTest : public RecordBlocksTest {};

TEST_P(WrittenBlocksTest, FrequentEventsAreWrittenInFourKibibytePieces) {
  Begin();
  Put(4000 - sizeof(BlockHeader), 'a', /*at_once=*/false);
  EXPECT_EQ(BlocksOf(path_).at(0).header.committed, 0U);
  Put(200, 'b', /*at_once=*/false);
  EXPECT_EQ(BlocksOf(path_).at(0).header.committed, 4200U - sizeof(BlockHeader));
  Put(10, 'c', /*at_once=*/false);
  EXPECT_EQ(BlocksOf(path_).at(0).header.committed, 4200U - sizeof(BlockHeader));
  Put(1, 'd', /*at_once=*/true);
  EXPECT_EQ(BlocksOf(path_).at(0).records.substr(4200 - sizeof(BlockHeader)), "ccccccccccd");
}

TEST_P(WrittenBlocksTest, UnwrittenEventsAreLostWithTheFile) {
  Begin();
  Put(100, 'a', /*at_once=*/true);
  for (int i = 0; i < 3; ++i) Put(100, 'b', /*at_once=*/false);
  CloseDescriptor();
  EXPECT_EQ(blocks_->EventRoom(kFull), nullptr);
  EXPECT_EQ(blocks_->loss().lost_events(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Pages, WrittenBlocksTest, testing::Values(false),
                         [](const auto&) { return "Written"; });

TEST(RecordBlocksWithoutAFileTest, NoRoomIsGivenAndTheReasonIsReturnedOnce) {
  RecordBlocks blocks(absl::PermissionDeniedError("may not write there"));
  EXPECT_EQ(blocks.EventRoom(1), nullptr);
  EXPECT_EQ(blocks.DefinitionRoom(1), nullptr);
  EXPECT_FALSE(blocks.DefinitionsAreFull(1));
  EXPECT_EQ(blocks.front(), nullptr);
  EXPECT_EQ(blocks.kept(), 0U);
  EXPECT_TRUE(absl::IsPermissionDenied(blocks.NoteLost(1)));
  EXPECT_TRUE(blocks.NoteLost(1).ok());
  EXPECT_EQ(blocks.loss().lost_events(), 2U);
  blocks.Close();
}

}  // namespace
}  // namespace memtrace::trace
