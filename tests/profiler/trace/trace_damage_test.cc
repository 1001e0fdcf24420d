// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "profiler/trace/coding/checksum.h"
#include "profiler/trace/coding/record_decoder.h"
#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

using testing::HasSubstr;

constexpr size_t kInfoEnd = 2 * kPageBytes;  // the first block of events begins here

class TraceDamageTest : public TraceFixture {
 protected:
  // Returns the bytes of a small closed trace with every kind of event.
  std::string SmallTrace() {
    Begin({}, {{"host", "node7"}});
    DefinitionWriter& names = writer_->definitions();
    names.String("a name");
    names.DefineStack(0, names.DefineFrame({.file = "f.py", .function = "f", .line = 1}));
    Write(OneOfEachKind());
    Close();
    return ReadBytes(path_);
  }
  // Returns the bytes of a closed trace of several blocks; its events are numbered from 1.
  std::string LargeTrace() {
    Begin();
    WriteAllocations(30'000);
    Close();
    return ReadBytes(path_);
  }
  static void FlipBit(std::string& bytes, size_t bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  }
  ~TraceDamageTest() override { close(memory_); }

  // Writes the bytes to a file in memory, because tens of thousands of files are read.
  std::string FileOf(const std::string& bytes) {
    EXPECT_EQ(ftruncate(memory_, 0), 0);
    EXPECT_EQ(pwrite(memory_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return "/proc/self/fd/" + std::to_string(memory_);
  }
  TraceReader Open(const std::string& bytes) { return MustOpen(FileOf(bytes)); }
  // Returns {number of events whose record ends at or before `size`, offset of the next record}.
  static std::pair<size_t, size_t> Prefix(const std::string& bytes, size_t size) {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    size_t events = 0;
    size_t at = kInfoEnd + sizeof(BlockHeader);
    while (const auto record = NextRecord(data + at, data + bytes.size())) {
      const auto end = static_cast<size_t>(record->end - data);
      if (end > size) break;
      at = end;
      if (IsKnownEvent(record->kind)) ++events;
    }
    return {events, at};
  }

  const int memory_ = memfd_create("trace", MFD_CLOEXEC);
};

TEST_F(TraceDamageTest, TruncatedTraceGivesTheLongestValidPrefix) {
  const std::string whole = SmallTrace();
  const std::vector<std::string> all = Read();
  for (size_t size = 12; size < whole.size(); ++size) {
    const TraceReader reader = Open(whole.substr(0, size));
    const Completeness& state = reader.completeness();
    const auto [events, next] = Prefix(whole, size);
    const std::vector<std::string> got = Describe(EventsOf(reader));
    ASSERT_EQ(got, std::vector<std::string>(all.begin(), all.begin() + static_cast<long>(events)))
        << size;
    ASSERT_FALSE(state.whole()) << size;
    if (size >= kInfoEnd + sizeof(BlockHeader)) {
      ASSERT_EQ(state.first_bad_offset, next) << size;
      ASSERT_EQ(state.truncated_bytes, size - next) << size;
    }
  }
}

TEST_F(TraceDamageTest, TruncatedLargeTraceLosesOnlyTheEnd) {
  const std::string whole = LargeTrace();
  size_t before = 0;
  for (size_t size = kPageBytes; size < whole.size(); size += 1013) {
    const TraceReader reader = Open(whole.substr(0, size));
    const std::vector<Event> events = EventsOf(reader);
    ASSERT_FALSE(reader.completeness().whole()) << size;
    ASSERT_GE(events.size(), before);
    before = events.size();
    ASSERT_EQ(events.empty() ? 0 : events.back().sequence, events.size());
  }
  EXPECT_GT(before, 29'000U);
}

TEST_F(TraceDamageTest, FilesThatAreNotTracesAreRejected) {
  WriteBytes(path_, "");
  EXPECT_THAT(TraceReader::Open(path_).status().ToString(), HasSubstr("the file is empty"));
  WriteBytes(path_, "\x80\x02}q");
  EXPECT_THAT(TraceReader::Open(path_).status().ToString(), HasSubstr("pickle"));
  WriteBytes(path_, "{\"a\": 1}    ");
  EXPECT_TRUE(absl::IsInvalidArgument(TraceReader::Open(path_).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(TraceReader::Open(folder_.path()).status()));
  EXPECT_TRUE(absl::IsNotFound(TraceReader::Open(path_ + ".none").status()));
}

TEST_F(TraceDamageTest, UnsupportedVersionsAreRejectedByNumber) {
  std::string bytes = SmallTrace();
  for (const uint32_t version : {kFormatVersion + 1, kOldestVersion - 1}) {
    bytes[8] = static_cast<char>(version);
    WriteBytes(path_, bytes);
    const absl::Status status = TraceReader::Open(path_).status();
    EXPECT_TRUE(absl::IsFailedPrecondition(status));
    EXPECT_TRUE(absl::StrContains(status.message(), "version " + std::to_string(version)));
  }
}

TEST_F(TraceDamageTest, EveryFlippedBitIsHarmlessOrReported) {
  std::string bytes = SmallTrace();
  const std::vector<std::string> all = Read();
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const bool is_header = bit < 8 * sizeof(FileHeader);
    const bool is_padding = !is_header && bytes[bit / 8] == 0 && bit % 8 != bit / 8 % 8;
    if (is_padding) continue;  // thousands of zeros: one bit of each is enough
    FlipBit(bytes, bit);
    const auto reader = TraceReader::Open(FileOf(bytes));
    FlipBit(bytes, bit);
    if (is_header) continue;  // not protected by a checksum: the file is opened or refused
    ASSERT_TRUE(reader.ok()) << bit << reader.status();
    if (!reader->completeness().whole()) continue;
    ASSERT_EQ(Describe(EventsOf(*reader)), all) << bit;
    ASSERT_EQ(reader->info().size(), 1U) << bit;
  }
}

TEST_F(TraceDamageTest, DamagedBlockLosesOnlyItself) {
  const std::string whole = LargeTrace();
  const size_t blocks = (whole.size() - kInfoEnd + kBlockBytes - 1) / kBlockBytes;
  ASSERT_GE(blocks, 4U);
  // Flips bits in the magic, the capacity, the committed length, the records, and at their end.
  for (const size_t offset : {0U, 25U, 29U, 1000U, 60'000U}) {
    std::string bytes = whole;
    FlipBit(bytes, 8 * (kInfoEnd + kBlockBytes + offset) + 2);
    const TraceReader reader = Open(bytes);
    EXPECT_EQ(reader.completeness().damaged_blocks, 1U) << offset;
    EXPECT_EQ(reader.completeness().first_bad_offset, kInfoEnd + kBlockBytes) << offset;
    const std::vector<Event> events = EventsOf(reader);
    EXPECT_EQ(events.back().sequence, 30'000U) << offset;
    EXPECT_NEAR(static_cast<double>(events.size()),
                30'000.0 * static_cast<double>(blocks - 1) / static_cast<double>(blocks), 4'000)
        << offset;
  }
}

// A process may be killed while it writes the header, whose bytes may arrive in any order.
TEST_F(TraceDamageTest, UnfinishedBlockHeaderIsNotDamage) {
  Begin();
  WriteAllocations(100);
  const std::string open = ReadBytes(path_);
  const BlockHeader begun{.first_sequence = 101, .capacity = kBlockBytes};
  const std::string header(reinterpret_cast<const char*>(&begun), sizeof(begun));
  for (size_t cut = 0; cut <= header.size(); ++cut) {
    for (const bool from_the_front : {true, false}) {
      std::string bytes = open;
      const size_t begin = from_the_front ? 0 : cut;
      const size_t count = from_the_front ? cut : header.size() - cut;
      header.copy(bytes.data() + kInfoEnd + kBlockBytes + begin, count, begin);
      const TraceReader reader = Open(bytes);
      ASSERT_TRUE(reader.completeness().whole()) << cut;
      ASSERT_EQ(EventsOf(reader).size(), 100U) << cut;
    }
  }
  std::string hit = open;
  hit[kInfoEnd] = 'x';
  EXPECT_EQ(Open(hit).completeness().damaged_blocks, 1U) << "this one has records";
}

TEST_F(TraceDamageTest, RandomBytesDoNotCrashTheReader) {
  std::mt19937_64 random(11);
  const std::string whole = LargeTrace();
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    const size_t from = kPageBytes + random() % (bytes.size() - kPageBytes);
    const size_t count = std::min<size_t>(random() % 5000, bytes.size() - from);
    for (size_t i = 0; i < count; ++i) bytes[from + i] = static_cast<char>(random());
    // An open block has no checksum, so any contents must be survived.
    if (round % 2 == 0) std::memset(&bytes[kInfoEnd + 16], 0, 8);
    EventsOf(Open(bytes));
  }
}

TEST_F(TraceDamageTest, RandomRecordsInAnOpenBlockDoNotCrashTheReader) {
  std::mt19937_64 random(12);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = round == 0 ? SmallTrace() : ReadBytes(path_).substr(0, kInfoEnd);
    bytes.resize(kInfoEnd);
    BlockHeader header{.capacity = kBlockBytes, .committed = 4000};
    bytes.append(reinterpret_cast<const char*>(&header), sizeof(header));
    while (bytes.size() < kInfoEnd + kBlockBytes) {
      const size_t length = random() % 40;
      bytes += static_cast<char>(1 + random() % 32);
      bytes += static_cast<char>(length);
      for (size_t i = 0; i < length; ++i) bytes += static_cast<char>(random() >> (random() % 64));
    }
    EventsOf(Open(bytes));
  }
}

TEST_F(TraceDamageTest, UnknownKindsOfBlocksAndRecordsAreSkipped) {
  std::string bytes = SmallTrace();
  const std::vector<std::string> all = Read();
  // Inserts an unknown record before the first one, and closes the block again.
  BlockHeader header;
  std::memcpy(&header, &bytes[kInfoEnd], sizeof(header));
  std::string records = bytes.substr(kInfoEnd + sizeof(header));
  records.insert(0, std::string("\xf0\x03") + "new");
  header.committed += 5;
  header.capacity += 5;
  // Inserts a block of an unknown kind between the info block and the events.
  BlockHeader unknown{.kind = static_cast<BlockKind>(77), .capacity = kPageBytes, .committed = 9};
  std::string unknown_block(kPageBytes, 'u');
  unknown.checksum = BlockChecksum(unknown, unknown_block.data() + sizeof(unknown));
  std::memcpy(unknown_block.data(), &unknown, sizeof(unknown));
  header.checksum = BlockChecksum(header, records.data());
  bytes.resize(kInfoEnd);
  bytes += unknown_block;
  bytes.append(reinterpret_cast<const char*>(&header), sizeof(header)).append(records);
  const TraceReader reader = Open(bytes);
  EXPECT_EQ(Describe(EventsOf(reader)), all);
  EXPECT_TRUE(reader.completeness().whole());
}

TEST_F(TraceDamageTest, InvalidEventWithAValidChecksumEndsTheBlock) {
  LargeTrace();
  std::string bytes = ReadBytes(path_);
  BlockHeader header;
  std::memcpy(&header, &bytes[kInfoEnd], sizeof(header));
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto [before, at] = Prefix(bytes, kInfoEnd + 10'000);
  const auto record = NextRecord(data + at, data + bytes.size());
  for (const uint8_t* byte = record->body; byte != record->end; ++byte) {
    bytes[static_cast<size_t>(byte - data)] = '\xff';  // a number without end
  }
  header.checksum = BlockChecksum(header, &bytes[kInfoEnd + sizeof(header)]);
  std::memcpy(&bytes[kInfoEnd], &header, sizeof(header));
  BlockHeader second;
  std::memcpy(&second, &bytes[kInfoEnd + kBlockBytes], sizeof(second));
  const std::vector<Event> events = EventsOf(Open(bytes));
  ASSERT_EQ(events.size(), before + 30'000 - second.first_sequence + 1);
  EXPECT_EQ(events[before - 1].sequence, before);
  EXPECT_EQ(events[before].sequence, second.first_sequence);
}

TEST_F(TraceDamageTest, QueuesAreMergedBySequence) {
  Begin();
  WriteAllocations(20'000);
  Close();
  std::string bytes = ReadBytes(path_);
  // Moves every other block to another queue, and swaps the first two.
  const auto flip = [&](size_t offset) {
    BlockHeader header;
    std::memcpy(&header, &bytes[offset], sizeof(header));
    header.queue = 1;
    header.checksum = BlockChecksum(header, &bytes[offset + sizeof(header)]);
    std::memcpy(&bytes[offset], &header, sizeof(header));
  };
  for (size_t at = kInfoEnd; at < bytes.size(); at += 2 * kBlockBytes) flip(at);
  std::swap_ranges(bytes.begin() + kInfoEnd, bytes.begin() + kInfoEnd + kBlockBytes,
                   bytes.begin() + kInfoEnd + kBlockBytes);
  const std::vector<Event> events = EventsOf(Open(bytes));
  ASSERT_EQ(events.size(), 20'000U);
  for (size_t i = 0; i < events.size(); ++i) ASSERT_EQ(events[i].sequence, i + 1);
}

}  // namespace
}  // namespace memtrace::trace
