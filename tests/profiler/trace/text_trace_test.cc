// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/text/text_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/profiler/trace/trace_fixture.h"

namespace memtrace::trace {
namespace {

using testing::HasSubstr;

class TextTraceTest : public testing::Test {
 protected:
  // Converts text to a trace and back.
  std::string Through(std::string_view text) {
    const absl::Status written = WriteTextTrace(text, path_);
    EXPECT_TRUE(written.ok()) << written;
    return written.ok() ? TraceToText(MustOpen(path_)) : "";
  }
  std::string Complaint(std::string_view text) {
    return std::string(WriteTextTrace(text, path_).message());
  }

  TemporaryFolder folder_;
  const std::string path_ = folder_.File("text.trace");
};

TEST_F(TextTraceTest, EveryKindOfLineRoundTrips) {
  constexpr std::string_view kText =
      R"text(info command python train.py --lr 1e-4
info host node7
@1000 step 1
@2000 phase optimizer
@3000 tag 2 owner=policy/adapter
@4000 reserve 0 0x7f0000000000 size=34359738368 stream=9
@5000 map 0 0x7f0000000000 size=20971520 stream=9
@6000 alloc 0 0x7f0000000000 requested=500 allocated=512 stream=9 pool=1 stack=step@adam.py:791;<module>@train.py:31 owner=policy module=h.0.mlp
@7000 relabel 0 0x7f0000000000 size=512 role=optimizer_state owner=policy path=h.0.mlp.weight
@8000 annotate optimizer.class "AdamW(\"foreach\")\nsecond line"
@9000 free_requested 0 0x7f0000000000
@10000 free_completed 0 0x7f0000000000
@11000 unmap 0 0x7f0000000000 size=20971520
@12000 sample 1 total=100 free=90
@13000 out_of_memory 0 requested=7 allocated=512 obtainable=3 limit=99 stream=9 owner=policy
  card 0 total=24 free=1 context=2 other_processes=3 outside_allocator=4 reserved=5 live_requested=6 live_allocated=7 stream_wait=8 cached=9 holes=10 largest_hole=11 private_pools=12 asleep=13 on_host=14 host_copies=15 host_pooled=16
  card 1 total=24
@14000 lost 3 reason="No space left on device"
@15000 activity 0 kernel start=5000 duration=70 stream=7 name=_Z4geluPf block=6
@16000 activity 0 copy start=6000 duration=80 stream=7 bytes=4096 name=HtoD
@17000 activity 1 memory_given start=7000 bytes=2097152 address=0x7f0040000000
@18000 moved 0 gave_way bytes=4294967296 duration=9000 stack=ncclCommInitRank@/opt/libnccl.so.2+0x1:0
@19000 moved 1 gave_to_neighbour bytes=7 to="process 4711 (rank 1)"
@20000 moved 0 slept bytes=8 host_bytes=8 owner=policy
)text";
  EXPECT_EQ(Through(kText), kText);
}

TEST_F(TextTraceTest, UnitsAndDefaultsAreAccepted) {
  EXPECT_EQ(Through("# two lines\n\nalloc 0 0x200 requested=5MiB\nfree 0 0x200\n"),
            "@1000 alloc 0 0x200 requested=5242880 allocated=5242880\n"
            "@2000 free_requested 0 0x200\n"
            "@3000 free_completed 0 0x200\n");
}

TEST_F(TextTraceTest, NamesWithSeparatorsSurvive) {
  constexpr std::string_view kText =
      "@1000 alloc 0 0x200 requested=512 allocated=512 "
      "stack=\"operator%40(a%3B b)@/a dir/100%25.py:3\"\n";
  EXPECT_EQ(Through(kText), kText);
}

TEST_F(TextTraceTest, RandomEventsSurvive) {
  std::mt19937_64 random(3);
  auto writer = *TraceWriter::Open(folder_.File("random.trace"), {});
  // Uses few ids, so that all of them have names.
  for (int i = 0; i < 100; ++i) writer->definitions().String("name " + std::to_string(i));
  for (Event& event : RandomEvents(500, random)) {
    if (auto* alloc = std::get_if<Allocate>(&event.payload)) {
      alloc->stack = 0;
      alloc->owner %= 100;
      alloc->device = alloc->device & 7;
      writer->Write(event).IgnoreError();
    }
  }
  writer->Close();
  const std::string text = TraceToText(MustOpen(folder_.File("random.trace")));
  EXPECT_GT(text.size(), 1000U);
  EXPECT_EQ(Through(text).size(), text.size());
}

TEST_F(TextTraceTest, InvalidLinesAreNamed) {
  EXPECT_THAT(Complaint("step 1\nallocate 0 0x0"), HasSubstr("line 2: 'allocate' is not a kind"));
  EXPECT_THAT(Complaint("alloc 0 zero"), HasSubstr("'zero' is not a number"));
  EXPECT_THAT(Complaint("alloc 0"), HasSubstr("missing"));
  EXPECT_THAT(Complaint("map 0 0 sizes=3"), HasSubstr("'sizes=' means nothing here"));
  EXPECT_THAT(Complaint("phase noon"), HasSubstr("'noon'"));
  EXPECT_THAT(Complaint("card 0 total=1"), HasSubstr("under an out_of_memory"));
  EXPECT_THAT(Complaint("annotate \"a"), HasSubstr("quote"));
}

}  // namespace
}  // namespace memtrace::trace
