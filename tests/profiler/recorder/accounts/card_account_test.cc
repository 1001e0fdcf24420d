// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/card_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace memtrace::recorder {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using trace::Phase;
using trace::Role;

constexpr trace::StringId kPolicy = 1;
constexpr trace::StringId kReference = 2;

// The card of a program in which events are numbered consecutively.
class CardAccountTest : public testing::Test {
 protected:
  // Allocates a block now; its address does not matter.
  LiveBlock Allocate(Bytes requested, trace::StringId owner = kPolicy,
                     Role role = Role::kParameter) {
    const LiveBlock block{.requested = requested,
                          .allocated = RoundUp(requested, 512),
                          .birth = ++sequence_,
                          .owner = owner,
                          .role = role,
                          .phase = now_.phase,
                          .phase_run = now_.phase_run};
    account_.Allocated(block, now_);
    return block;
  }
  FreedBlock Request(const LiveBlock& block) {
    account_.FreeRequested(block);
    return {.block = block, .at_request = now_, .sequence = ++sequence_};
  }
  void Free(const LiveBlock& block, DeviceAddress address = DeviceAddress{0x1000}) {
    account_.Freed(address, {.block = block, .at_request = now_, .sequence = ++sequence_});
  }
  // Returns "owner role" -> bytes.
  static std::map<std::string, Bytes> Read(const GroupSums& sums) {
    std::map<std::string, Bytes> read;
    for (const auto& [group, bytes] : sums) {
      read[std::to_string(group.second) + " " + std::to_string(static_cast<int>(group.first))] =
          bytes;
    }
    return read;
  }
  static std::string Group(trace::StringId owner, Role role) {
    return std::to_string(owner) + " " + std::to_string(static_cast<int>(role));
  }
  std::map<std::string, Bytes> Dead() const { return Read(account_.dead_since_peak()); }

  CardAccount account_;
  ProgramPosition now_;
  uint64_t sequence_ = 0;
};

TEST_F(CardAccountTest, BlockIsInUseUntilFreeRequestedAndLiveUntilFreeCompleted) {
  const LiveBlock first = Allocate(1000);
  const FreedBlock freed = Request(first);
  EXPECT_EQ(account_.live_requested(), 1000U);
  EXPECT_EQ(account_.live_allocated(), 1024U);
  Allocate(900);
  EXPECT_EQ(account_.peak().bytes, 1000U) << "the first one counts no longer";
  account_.FreeCompleted(DeviceAddress{0x1000}, freed);
  EXPECT_EQ(account_.live_requested(), 900U);
  EXPECT_EQ(account_.live_allocated(), 1024U);
  Allocate(200);
  EXPECT_EQ(account_.peak().bytes, 1100U);
}

TEST_F(CardAccountTest, PeakIsWhereItWasFirstReached) {
  now_.step = 3;
  const LiveBlock block = Allocate(1000);
  Free(block);
  now_.step = 4;
  Allocate(1000);
  EXPECT_EQ(account_.peak().at.step, 3U);
  Allocate(1);
  EXPECT_EQ(account_.peak().at.step, 4U);
}

TEST_F(CardAccountTest, PeakTellsWhatWasAllocatedAndReservedThen) {
  account_.mapped.Map(0, 4096);
  const LiveBlock first = Allocate(1000);
  Request(first);
  account_.mapped.Map(4096, 4096);
  const LiveBlock second = Allocate(1100);
  account_.mapped.Map(8192, 4096);
  Free(second);
  account_.mapped.Unmap(0, 8192);
  EXPECT_EQ(account_.peak().bytes, 1100U);
  EXPECT_EQ(account_.peak().allocated, 1024U + 1536U) << "the first one still waits";
  EXPECT_EQ(account_.peak().reserved, 8192U);
  EXPECT_EQ(account_.mapped.bytes(), 4096U);
  EXPECT_EQ(account_.mapped.most_bytes(), 12288U);
}

TEST_F(CardAccountTest, BytesFreedSinceThePeakRestartAtTheNextPeak) {
  const LiveBlock early = Allocate(100, kReference);
  const LiveBlock at_peak = Allocate(1000);
  Free(early);
  const LiveBlock late = Allocate(50);
  Free(late);
  EXPECT_THAT(Dead(), ElementsAre(Pair(Group(kReference, Role::kParameter), 100)))
      << "the late one was born after the peak";
  Allocate(2000);
  EXPECT_THAT(Dead(), IsEmpty());
  EXPECT_TRUE(account_.WasAtPeak(at_peak, ~uint64_t{0}));
  EXPECT_FALSE(account_.WasAtPeak(early, /*freed=*/3));
}

// An unstated role follows from the phases, as in the analysis.
TEST_F(CardAccountTest, UnstatedRoleFollowsFromThePhase) {
  now_ = {.phase_run = 1, .phase = Phase::kForward};
  const LiveBlock kept = Allocate(100, kPolicy, Role::kUnknown);
  const LiveBlock passing = Allocate(200, kPolicy, Role::kUnknown);
  Free(passing);
  now_ = {.phase_run = 2, .phase = Phase::kBackward};
  Free(kept);
  EXPECT_THAT(Dead(), testing::UnorderedElementsAre(Pair(Group(kPolicy, Role::kActivation), 100),
                                                    Pair(Group(kPolicy, Role::kTemporary), 200)));
}

TEST_F(CardAccountTest, LabelledPartsCountApartFromTheRestOfTheBlock) {
  const DeviceAddress address{0x1000};
  const LiveBlock flat = Allocate(1000);
  account_.Label({.address = 0x1000 + 200, .size = 300, .role = Role::kGradient}, nullptr);
  account_.Label({.address = 0x1000 + 500, .size = 100, .owner = kReference}, nullptr);
  GroupSums sums;
  account_.AddTo(sums, address, flat, /*is_gone=*/false, now_);
  EXPECT_THAT(Read(sums),
              testing::UnorderedElementsAre(Pair(Group(kPolicy, Role::kGradient), 300),
                                            Pair(Group(kReference, Role::kParameter), 100),
                                            Pair(Group(kPolicy, Role::kParameter), 600)));
  EXPECT_EQ(account_.Parts(address, flat).size(), 2U);
}

TEST_F(CardAccountTest, LabelOfAWholeBlockReplacesThoseOfItsParts) {
  const LiveBlock flat = Allocate(1000);
  account_.Label({.address = 0x1000, .size = 1000, .role = Role::kParameter}, &flat);
  EXPECT_THAT(account_.Parts(DeviceAddress{0x1000}, flat), IsEmpty()) << "the live table has it";
  account_.Label({.address = 0x1000, .size = 400, .role = Role::kGradient}, nullptr);
  account_.Label({.address = 0x1000, .size = 0, .role = Role::kOptimizerState}, &flat);
  for (const trace::LabelledRange& part : account_.Parts(DeviceAddress{0x1000}, flat)) {
    EXPECT_EQ(part.label.role, Role::kOptimizerState);
  }
}

TEST_F(CardAccountTest, LabelsEndWithTheirBlock) {
  const LiveBlock flat = Allocate(1000);
  account_.Label({.address = 0x1000, .size = 400, .role = Role::kGradient}, nullptr);
  Free(flat);
  const LiveBlock next = Allocate(1000);
  EXPECT_THAT(account_.Parts(DeviceAddress{0x1000}, next), IsEmpty());
}

TEST_F(CardAccountTest, LiveBytesAtTheLastStepsAreKept) {
  for (size_t step = 0; step < CardAccount::kSteps + 3; ++step) {
    account_.BeginStep();
    Allocate(100);
  }
  EXPECT_EQ(account_.live_at_steps().size(), CardAccount::kSteps);
  EXPECT_EQ(account_.live_at_steps().front(), 300U);
  Request(Allocate(5000));
  account_.BeginStep();
  EXPECT_EQ(account_.live_at_steps().back(), 100 * (CardAccount::kSteps + 3));
}

TEST_F(CardAccountTest, OwnersBeyondTheLimitAreSummedWithoutOwner) {
  std::vector<LiveBlock> blocks;
  for (trace::StringId owner = 1; owner <= CardAccount::kMaxGroups + 5; ++owner) {
    blocks.push_back(Allocate(10, owner));
  }
  for (const LiveBlock& block : blocks) Free(block);
  const auto dead = Dead();
  EXPECT_EQ(dead.size(), CardAccount::kMaxGroups + 1);
  EXPECT_EQ(dead.at(Group(0, Role::kParameter)), 50U);
}

}  // namespace
}  // namespace memtrace::recorder
