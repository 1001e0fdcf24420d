// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/memory_uses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/interpose/simulated_card/work/stream_parts.h"

namespace memtrace::card {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Address kBegin = AddressRanges::kBegin;
constexpr Address kOnHost{4096};
const MappedRange kMapping{
    .begin = kBegin, .bytes = kGranularity, .handle = 1, .device = 0, .kind = ChargeKind::kVmm};

class MemoryUsesTest : public ::testing::Test {
 protected:
  void Use(Stream* stream, Address begin, std::uint64_t bytes = 16) {
    Work work;
    ASSERT_EQ(parts_.streams.Submit(stream, 0, &work), Result::kSuccess);
    uses_.Used(begin, bytes, work, "cuMemcpyAsync");
  }
  void Launch(Stream* stream) { ASSERT_EQ(parts_.streams.Submit(stream, 0), Result::kSuccess); }
  void Unmap() { uses_.Unmapped({kMapping}, "cuMemUnmap"); }
  std::vector<std::string> FaultTexts() const {
    std::vector<std::string> texts;
    faults_.Visit([&](const std::string& text) { texts.push_back(text); });
    return texts;
  }

  StreamParts parts_{1, {.mode = EventMode::kLazy}};
  Faults faults_;
  MemoryUses uses_{parts_.progress, parts_.table, faults_};
  Stream* a_ = parts_.table.Create(0, kNonBlockingStream, 0);
  Stream* b_ = parts_.table.Create(0, kNonBlockingStream, 0);
};

TEST_F(MemoryUsesTest, UnmappingDuringACopyNamesBothCalls) {
  Launch(a_);
  Use(a_, kBegin + 100);
  Unmap();
  EXPECT_THAT(FaultTexts(), ElementsAre(AllOf(HasSubstr("cuMemUnmap of 2097152 bytes"),
                                              HasSubstr("while cuMemcpyAsync (work 2 of stream 1) "
                                                        "was unfinished"))));
}

TEST_F(MemoryUsesTest, UnmappingAfterTheRightWaitIsNoFault) {
  Use(a_, kBegin);
  ASSERT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
  Unmap();
  EXPECT_THAT(FaultTexts(), IsEmpty());
}

TEST_F(MemoryUsesTest, WaitForAnotherStreamDoesNotExcuseANamedUse) {
  Use(a_, kBegin);
  Launch(b_);
  ASSERT_EQ(parts_.streams.Synchronize(b_, 0), Result::kSuccess);
  Unmap();
  EXPECT_EQ(faults_.Total(), 1u);
}

TEST_F(MemoryUsesTest, UsesOutsideTheMappingAreNoFault) {
  Use(a_, kBegin + kGranularity);
  Use(a_, kBegin - 16);
  Unmap();
  EXPECT_THAT(FaultTexts(), IsEmpty());
}

TEST_F(MemoryUsesTest, RemappingMemoryStillInUseIsAFault) {
  Use(a_, kBegin);
  Unmap();
  uses_.Mapped(2, kBegin, "cuMemMap");
  EXPECT_EQ(faults_.Total(), 1u) << "other memory at that address is no matter";
  uses_.Mapped(1, kBegin + kGranularity, "cuMemMap");
  EXPECT_THAT(FaultTexts().back(),
              HasSubstr("cuMemMap at 0x200000200000 was called while cuMemcpyAsync"));
  EXPECT_EQ(faults_.Total(), 2u);
}

TEST_F(MemoryUsesTest, ReleasingMemoryThatIsStillUsedIsAFault) {
  Use(a_, kBegin);
  Unmap();
  uses_.Released(1, "cuMemRelease");
  EXPECT_THAT(FaultTexts().back(),
              HasSubstr("cuMemRelease of handle 1 was called while cuMemcpyAsync"));
  uses_.Released(1, "cuMemRelease");
  EXPECT_EQ(faults_.Total(), 2u);
}

TEST_F(MemoryUsesTest, UnmappingDuringALaunchIsAFault) {
  uses_.MadeAccessible({kMapping});
  Launch(a_);
  Unmap();
  EXPECT_THAT(FaultTexts(), ElementsAre(HasSubstr(
                                "while a launch that may use it (work 1 of "
                                "stream 1) was unfinished, and no stream had been waited for")));
}

TEST_F(MemoryUsesTest, LaunchesBeforeTheMappingAreNoFault) {
  Launch(a_);
  uses_.MadeAccessible({kMapping});
  Unmap();
  EXPECT_THAT(FaultTexts(), IsEmpty());
}

TEST_F(MemoryUsesTest, WaitForOneStreamExcusesTheLaunchesOfOthers) {
  uses_.MadeAccessible({kMapping});
  Launch(a_);
  Launch(b_);
  ASSERT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
  Unmap();
  EXPECT_THAT(FaultTexts(), IsEmpty()) << "whose memory it was, nobody but the program knows";
}

TEST_F(MemoryUsesTest, WaitBeforeALaterLaunchExcusesNothing) {
  uses_.MadeAccessible({kMapping});
  Launch(a_);
  ASSERT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
  Launch(a_);
  Unmap();
  EXPECT_EQ(faults_.Total(), 1u);
}

TEST_F(MemoryUsesTest, AccessToLostMemoryNamesTheCallThatFreedIt) {
  Unmap();
  uses_.Freed(kBegin + 2 * kGranularity, 512, "cuMemFree");
  uses_.Missed(kBegin, kOnHost, 16, "cuMemcpyHtoD");
  uses_.Missed(kOnHost, kBegin + 2 * kGranularity, 16, "cuMemcpyDtoH");
  uses_.Missed(kOnHost, kBegin + 3 * kGranularity, 16, "cuMemcpyDtoH");
  EXPECT_THAT(FaultTexts(),
              ElementsAre(HasSubstr("taken away by cuMemUnmap"),
                          HasSubstr("taken away by cuMemFree"), HasSubstr("was never mapped")));
}

TEST_F(MemoryUsesTest, EagerCardsSeeNoUnfinishedWork) {
  parts_.progress.SetTiming({});
  uses_.MadeAccessible({kMapping});
  Use(a_, kBegin);
  Launch(a_);
  Unmap();
  EXPECT_THAT(FaultTexts(), IsEmpty());
}

TEST_F(MemoryUsesTest, ManyFinishedUsesAreForgotten) {
  for (int i = 0; i < 10'000; ++i) {
    Use(a_, kBegin);
    ASSERT_EQ(parts_.streams.Synchronize(a_, 0), Result::kSuccess);
  }
  Unmap();
  EXPECT_THAT(FaultTexts(), IsEmpty());
}

}  // namespace
}  // namespace memtrace::card
