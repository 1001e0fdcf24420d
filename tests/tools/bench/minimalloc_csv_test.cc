// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/minimalloc_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/bench/recorded_requests.h"

namespace memtrace::bench {
namespace {

using ::testing::HasSubstr;

TEST(MiniMallocCsvTest, BufferThatEndsMakesRoomForOneThatBegins) {
  const auto sequence = ReadMiniMallocCsv("id,lower,upper,size\nb,10,12,1024\na,0,10,1024\n");
  ASSERT_TRUE(sequence.ok());
  EXPECT_EQ(LivePeak(*sequence), 1'024);
  EXPECT_EQ(sequence->blocks, 1);
}

TEST(MiniMallocCsvTest, ColumnsMayStandInAnyOrderBesideOthers) {
  const auto sequence =
      ReadMiniMallocCsv("size,id,alignment,begin,end\r\n512,a,8,0,2\r\n512,b,8,1,3\r\n");
  ASSERT_TRUE(sequence.ok());
  EXPECT_EQ(LivePeak(*sequence), 1'024);
}

TEST(MiniMallocCsvTest, WrongLineIsNamed) {
  for (const char* line : {"a,5,5,512", "a,0,1", "a,0,1,-3", "a,x,1,512"}) {
    const auto sequence =
        ReadMiniMallocCsv("id,lower,upper,size\nz,0,1,512\n" + std::string(line) + "\n");
    EXPECT_THAT(sequence.status().ToString(), HasSubstr("line 3")) << line;
  }
}

TEST(MiniMallocCsvTest, OtherCsvIsNotRecognised) {
  EXPECT_TRUE(IsMiniMallocCsv("id,lower,upper,size\n"));
  EXPECT_FALSE(IsMiniMallocCsv("Thread,Time,Action,Pointer,Size,Stream\n"));
  EXPECT_FALSE(IsMiniMallocCsv(""));
}

}  // namespace
}  // namespace memtrace::bench
