// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/card/memory_vmm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/allocator/card/vmm_contract.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class MemoryVmmDriver {
 public:
  Vmm& vmm() { return vmm_; }
  static bool is_real_driver() { return false; }

 private:
  MemoryVmm vmm_{{.capacity = 64_MiB}};
};
INSTANTIATE_TYPED_TEST_SUITE_P(MemoryVmm, VmmContract, MemoryVmmDriver);

class MemoryVmmTest : public ::testing::Test {
 protected:
  DeviceAddress MapOne() {
    const DeviceAddress address = vmm_.Reserve(2_MiB).value();
    const ChunkHandle chunk = vmm_.Create(2_MiB).value();
    EXPECT_TRUE(vmm_.Map(address, 2_MiB, chunk).ok());
    EXPECT_TRUE(vmm_.GiveAccess(address, 2_MiB).ok());
    return address;
  }

  CallFailures failures_;
  MemoryStreams streams_{&failures_};
  MemoryVmm vmm_{{.capacity = 64_MiB, .used_by_others = 4_MiB}, &streams_, &failures_};
};

TEST_F(MemoryVmmTest, MemoryOfOthersIsNotFree) {
  EXPECT_EQ(vmm_.MemoryInfo()->free, 60_MiB);
  EXPECT_EQ(vmm_.MemoryInfo()->total, 64_MiB);
}

TEST_F(MemoryVmmTest, UnmappingDuringUnfinishedWorkIsAFault) {
  const DeviceAddress address = MapOne();
  vmm_.NoteUse(address + 512, 512, streams_.Queue(StreamId{5}));
  EXPECT_TRUE(vmm_.Unmap(address, 2_MiB).ok());  // a driver would not refuse it either
  EXPECT_THAT(vmm_.faults(), ElementsAre(HasSubstr("of stream 5")));
}

TEST_F(MemoryVmmTest, UnmappingAfterTheWorkIsFinishedIsNoFault) {
  const DeviceAddress address = MapOne();
  vmm_.NoteUse(address, 512, streams_.Queue(StreamId{5}));
  streams_.Finish(StreamId{5});
  EXPECT_TRUE(vmm_.Unmap(address, 2_MiB).ok());
  EXPECT_THAT(vmm_.faults(), IsEmpty());
}

TEST_F(MemoryVmmTest, UseOfUnmappedMemoryIsAFault) {
  const DeviceAddress address = MapOne();
  vmm_.NoteUse(address + 1_MiB, 2_MiB, streams_.Queue(StreamId{5}));
  EXPECT_THAT(vmm_.faults(), ElementsAre(HasSubstr("use of unmapped")));
}

TEST_F(MemoryVmmTest, ChosenCallFailsOnceAndChangesNothing) {
  failures_.FailNth(DriverCall::kCreate, 2, CallFailures::Repeat::kOnce,
                    absl::InternalError("injected"));
  EXPECT_TRUE(vmm_.Create(2_MiB).ok());
  EXPECT_EQ(vmm_.Create(2_MiB).status().message(), "injected");
  EXPECT_EQ(vmm_.used(), 2_MiB);
  EXPECT_TRUE(vmm_.Create(2_MiB).ok());
}

TEST_F(MemoryVmmTest, ChosenCallKeepsFailing) {
  failures_.FailNthOfAny(1, CallFailures::Repeat::kFromThenOn, absl::InternalError("injected"));
  EXPECT_FALSE(vmm_.Reserve(2_MiB).ok());
  EXPECT_FALSE(vmm_.MemoryInfo().ok());
  failures_.StopFailing();
  EXPECT_TRUE(vmm_.MemoryInfo().ok());
}

TEST_F(MemoryVmmTest, AddressesAscendAndAreNotReused) {
  const DeviceAddress first = vmm_.Reserve(2_MiB).value();
  EXPECT_TRUE(vmm_.ReleaseReservation(first, 2_MiB).ok());
  EXPECT_GT(vmm_.Reserve(2_MiB).value(), first);
}

TEST_F(MemoryVmmTest, ExhaustedAddressSpaceIsNotReused) {
  constexpr Bytes kHalf = Bytes{1} << 63;
  EXPECT_TRUE(vmm_.Reserve(kHalf).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(vmm_.Reserve(kHalf).status()));
  EXPECT_TRUE(vmm_.Reserve(2_MiB).ok());
}

}  // namespace
}  // namespace memtrace
