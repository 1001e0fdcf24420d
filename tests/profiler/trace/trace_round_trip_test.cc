// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/trace/coding/record_decoder.h"
#include "profiler/trace/coding/record_encoder.h"
#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

using testing::ElementsAreArray;
using testing::Pair;
using testing::UnorderedElementsAre;

class TraceRoundTripTest : public TraceFixture {};

TEST_F(TraceRoundTripTest, EveryKindSurvivesWithEveryField) {
  Begin();
  Write(OneOfEachKind());
  Close();
  EXPECT_THAT(Read(), ElementsAreArray(Describe(OneOfEachKind())));
  EXPECT_TRUE(State().whole());
  EXPECT_TRUE(State().closed);
}

TEST_F(TraceRoundTripTest, RandomEventsInManyBlocksSurvive) {
  std::mt19937_64 random(42);
  const std::vector<Event> events = RandomEvents(50'000, random);
  Begin();
  Write(events);
  Close();
  EXPECT_THAT(Read(), ElementsAreArray(Describe(events)));
  EXPECT_TRUE(State().whole());
}

TEST_F(TraceRoundTripTest, RoleOfALaterVersionIsUnknown) {
  Begin();
  Write({{1, 1000, Allocate{.address = 512, .requested = 512, .allocated = 512}},
         {2, 2000, Relabel{.address = 512, .role = static_cast<Role>(200)}},
         {3, 3000, Relabel{.address = 512, .role = Role::kCheckpoint}}});
  Close();
  std::vector<Role> roles;
  MustOpen(path_).ForEach([&roles](const Event& event) {
    if (const auto* label = std::get_if<Relabel>(&event.payload)) roles.push_back(label->role);
  });
  EXPECT_THAT(roles, ElementsAreArray({Role::kUnknown, Role::kCheckpoint}));
}

TEST_F(TraceRoundTripTest, EventsCanBeReadWhileReadingEvents) {
  std::mt19937_64 random(44);
  const std::vector<Event> events = RandomEvents(20'000, random);
  Begin();
  Write(events);
  Close();
  const TraceReader reader = MustOpen(path_);
  size_t outer = 0;
  size_t inner = 0;
  reader.ForEach([&](const Event&) {
    if (++outer != 10'000) return;
    reader.ForEach([&inner](const Event&) { ++inner; });
  });
  EXPECT_EQ(outer, events.size());
  EXPECT_EQ(inner, events.size());
}

TEST_F(TraceRoundTripTest, FileIsTheSameWithoutSharedPages) {
  std::mt19937_64 random(43);
  const std::vector<Event> events = RandomEvents(20'000, random);
  Begin({.map_pages = false});
  Write(events);
  Close();
  EXPECT_THAT(Read(), ElementsAreArray(Describe(events)));
  const std::string flushed = ReadBytes(path_);
  std::filesystem::remove(path_);
  Begin();
  Write(events);
  Close();
  EXPECT_TRUE(ReadBytes(path_) == flushed);
}

TEST_F(TraceRoundTripTest, FactsOfTheProcessSurvive) {
  const std::string long_command(100'000, 'x');
  Begin({}, {{"host", "node7"}, {"command", long_command}, {"empty", ""}});
  Close();
  EXPECT_THAT(MustOpen(path_).info(),
              UnorderedElementsAre(Pair("host", "node7"), Pair("empty", ""),
                                   Pair("command", long_command.substr(0, 16 << 10))));
}

TEST_F(TraceRoundTripTest, OpenFileShowsAllWrittenEvents) {
  Begin();
  WriteAllocations(10'000);
  EXPECT_EQ(Read().size(), 10'000U);
  EXPECT_FALSE(State().closed);
  EXPECT_TRUE(State().whole());
}

// The private_pools of each card, and then what is off it, are at the end of the record; an older
// trace has none.
TEST(RecordTest, FieldsOfALaterVersionAreZeroInAnOlderTrace) {
  const OutOfMemory event{
      .requested = 7,
      .cards = {{.total = 24, .largest_hole = 300, .private_pools = 100, .asleep = 50},
                {.device = 1, .total = 24, .largest_hole = 5}}};
  std::vector<uint8_t> bytes(MaxRecordBytes(event));
  DeltaState delta;
  RecordEncoder encoder(RecordKind::kFirstEvent, bytes.data(), delta);
  CodeFields(encoder, event);
  const auto record = NextRecord(bytes.data(), encoder.Finish());
  ASSERT_TRUE(record.has_value());
  const auto decode = [&](size_t appended) {
    OutOfMemory read;
    RecordDecoder decoder({record->kind, record->body, record->end - appended}, delta);
    CodeFields(decoder, read);
    EXPECT_TRUE(decoder.ok());
    return read;
  };
  EXPECT_EQ(decode(0).cards[0].private_pools, 100U);
  EXPECT_EQ(decode(0).cards[0].asleep, 50U);
  const OutOfMemory older = decode(8);  // four bytes for each card
  EXPECT_EQ(older.cards[0].private_pools, 100U);
  EXPECT_EQ(older.cards[0].asleep, 0U);
  const OutOfMemory old = decode(10);  // and another one
  ASSERT_EQ(old.cards.size(), 2U);
  EXPECT_EQ(old.cards[0].private_pools, 0U);
  EXPECT_EQ(old.cards[0].largest_hole, 300U);
  EXPECT_EQ(old.cards[1].largest_hole, 5U);
}

TEST_F(TraceRoundTripTest, StringsAndStacksAreDefinedOnceAndSurvive) {
  Begin();
  DefinitionWriter& names = writer_->definitions();
  const StringId owner = names.String("edited_model");
  EXPECT_EQ(names.String("edited_model"), owner);
  const StackId main = names.DefineStack(
      0, names.DefineFrame({.file = "train.py", .function = "<module>", .line = 31}));
  const StackId step = names.DefineStack(
      main, names.DefineFrame({.file = "adam.py", .function = "step", .line = 791}));
  Close();
  const TraceReader reader = MustOpen(path_);
  EXPECT_EQ(reader.String(owner), "edited_model");
  EXPECT_EQ(reader.String(0), "");
  EXPECT_EQ(reader.String(12345), "(lost)");
  const std::vector<Frame> frames = reader.Stack(step);
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].function, "step");
  EXPECT_EQ(frames[1].file, "train.py");
  EXPECT_EQ(frames[1].line, 31U);
  EXPECT_TRUE(reader.Stack(0).empty());
}

// The second event has the next sequence number, from which the next record continues.
TEST_F(TraceRoundTripTest, ImmediateFreeIsTwoEvents) {
  Begin();
  ASSERT_TRUE(writer_->WriteFreed(7, 1000, 1, 0x7f00'0000'1000).ok());
  ASSERT_TRUE(writer_->Write(9, 2000, Step{.number = 3}).ok());
  ASSERT_TRUE(writer_->WriteFreed(20, 1500, 0, 0x7f00'0000'0001).ok());
  Close();
  EXPECT_THAT(Read(), ElementsAreArray(Describe(
                          {{7, 1000, FreeRequested{.device = 1, .address = 0x7f00'0000'1000}},
                           {8, 1000, FreeCompleted{.device = 1, .address = 0x7f00'0000'1000}},
                           {9, 2000, Step{.number = 3}},
                           {20, 2000, FreeRequested{.device = 0, .address = 0x7f00'0000'0001}},
                           {21, 2000, FreeCompleted{.device = 0, .address = 0x7f00'0000'0001}}})));
}

// Traffic like a training step's: sizes from a few hundred bytes to 100 MiB, all over a 24 GiB
// card, some hundred stacks and modules, 3 us between calls, last allocated first freed.
TEST_F(TraceRoundTripTest, RealisticEventTakesLessThanTwelveBytes) {
  Begin();
  std::mt19937_64 random(9);
  std::vector<uint64_t> live;
  uint64_t time_ns = 0;
  const auto write = [&](const auto& event) {
    time_ns += 200 + random() % 3000;
    ASSERT_TRUE(writer_->Write(++sequence_, time_ns, event).ok());
  };
  while (sequence_ < 300'000) {
    const uint64_t requested = (random() % 1000 + 100) << random() % 17;
    const uint64_t address = 0x7f00'0000'0000 + 512 * (random() % (24 << 21));
    write(Allocate{.address = address,
                   .requested = requested,
                   .allocated = (requested + 511) / 512 * 512,
                   .stream = 0x55aa0000,
                   .stack = static_cast<StackId>(random() % 700),
                   .owner = 5,
                   .module = static_cast<StringId>(300 + sequence_ / 8 % 100)});
    live.push_back(address);
    if (live.size() < 500) continue;
    write(FreeRequested{.address = live.back()});
    write(FreeCompleted{.address = live.back()});
    live.pop_back();
  }
  Close();
  const auto bytes = static_cast<double>(std::filesystem::file_size(path_));
  RecordProperty("bytes_per_event", std::to_string(bytes / 300'000));
  EXPECT_LT(bytes / 300'000, 12);
}

// A model is loaded: small and large blocks lie in ranges 200 GiB apart, and each is labelled with
// a path of its own.
TEST_F(TraceRoundTripTest, ParameterAndItsLabelTakeLessThanTenBytesEach) {
  constexpr uint64_t kParameters = 20'000;
  Begin();
  uint64_t small = 0x7f00'0000'0000;
  uint64_t large = small + (uint64_t{200} << 30);
  std::vector<Event> events;
  const auto happens = [&](const Payload& payload) {
    const uint64_t number = events.size() + 1;
    events.push_back({.sequence = number, .time_ns = number * 6000, .payload = payload});
  };
  for (uint64_t i = 0; i < kParameters; ++i) {
    const bool is_large = i % 3 == 0;
    uint64_t& end = is_large ? large : small;
    const uint64_t requested = is_large ? 8192 * (512 + i % 7) : 4 * (100 + i % 7);
    const uint64_t allocated = is_large ? requested : 512;
    happens(Allocate{.address = end,
                     .requested = requested,
                     .allocated = allocated,
                     .stack = static_cast<StackId>(i % 5)});
    happens(
        Relabel{.address = end, .role = Role::kParameter, .path = static_cast<StringId>(900 + i)});
    end += allocated;
  }
  Write(events);
  Close();
  const auto bytes = static_cast<double>(std::filesystem::file_size(path_));
  RecordProperty("bytes_per_event", std::to_string(bytes / (2 * kParameters)));
  EXPECT_LT(bytes / (2 * kParameters), 10);
  EXPECT_THAT(Read(), ElementsAreArray(Describe(events)));
}

// A training step's kernels: 60 names, three kernels per allocation, each some microseconds long.
TEST_F(TraceRoundTripTest, KernelTakesLessThanTwelveBytes) {
  Begin();
  std::mt19937_64 random(9);
  uint64_t start = 1'000'000'000;
  for (uint64_t i = 0; i < 100'000; ++i) {
    const Activity kernel{.stream = 7,
                          .start_ns = start += 900 + random() % 9000,
                          .duration_ns = 2000 + random() % 60'000,
                          .name = static_cast<StringId>(900 + random() % 60),
                          .block = 4 * (i / 3)};
    start += kernel.duration_ns;
    ASSERT_TRUE(writer_->Write(++sequence_, i / 64 * 1'000'000, kernel).ok());
  }
  Close();
  const auto bytes = static_cast<double>(std::filesystem::file_size(path_));
  RecordProperty("bytes_per_kernel", std::to_string(bytes / 100'000));
  EXPECT_LT(bytes / 100'000, 12);
}

TEST_F(TraceRoundTripTest, ClosingTruncatesPreallocatedSpace) {
  Begin();
  WriteAllocations(1);
  EXPECT_GT(std::filesystem::file_size(path_), 1U << 20);
  Close();
  EXPECT_LT(std::filesystem::file_size(path_), 9U << 10);
}

}  // namespace
}  // namespace memtrace::trace
