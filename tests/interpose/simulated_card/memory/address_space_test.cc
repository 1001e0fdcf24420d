// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/address_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

class AddressSpaceTest : public ::testing::Test {
 protected:
  Address Reserved(std::uint64_t bytes) {
    Address begin;
    EXPECT_EQ(space_.Reserve(bytes, 0, Address(), &begin), Result::kSuccess);
    return begin;
  }

  HandleId Created(std::uint64_t bytes, int device = 0) {
    HandleId handle = 0;
    EXPECT_EQ(machine_.physical.Create(device, bytes, ChargeKind::kVmm, &handle), Result::kSuccess);
    return handle;
  }

  Machine machine_ = Machine({{.bytes = 1_GiB}, {.bytes = 1_GiB}}, 64_MiB);
  AddressSpace& space_ = machine_.space;
};

TEST_F(AddressSpaceTest, AddressesAscendAndAreAligned) {
  std::vector<Address> begins(10);
  for (Address& begin : begins) begin = Reserved(6_MiB);
  EXPECT_TRUE(std::is_sorted(begins.begin(), begins.end()));
  for (const Address begin : begins) EXPECT_EQ(begin.value() % kGranularity, 0u);
  Address aligned;
  ASSERT_EQ(space_.Reserve(2_MiB, 64_MiB, Address(), &aligned), Result::kSuccess);
  EXPECT_EQ(aligned.value() % 64_MiB, 0u);
}

TEST_F(AddressSpaceTest, FreedAddressesAreNotReusedSoon) {
  const Address first = Reserved(2_MiB);
  ASSERT_EQ(space_.FreeReservation(first, 2_MiB), Result::kSuccess);
  EXPECT_GT(Reserved(2_MiB), first);
}

TEST_F(AddressSpaceTest, HintIsHonouredIfItIsFree) {
  const Address wanted = AddressRanges::kBegin + 1_GiB;
  Address begin;
  ASSERT_EQ(space_.Reserve(4_MiB, 0, wanted, &begin), Result::kSuccess);
  EXPECT_EQ(begin, wanted);
  ASSERT_EQ(space_.Reserve(4_MiB, 0, wanted + 2_MiB, &begin), Result::kSuccess);
  EXPECT_GE(begin, wanted + 4_MiB);
}

TEST_F(AddressSpaceTest, InvalidReservationSizesAreRejected) {
  Address begin;
  EXPECT_EQ(space_.Reserve(0, 0, Address(), &begin), Result::kInvalidValue);
  EXPECT_EQ(space_.Reserve(1_MiB, 0, Address(), &begin), Result::kInvalidValue);
  EXPECT_EQ(space_.Reserve(2_MiB, 3_MiB, Address(), &begin), Result::kInvalidValue);
  EXPECT_EQ(space_.Reserve(1ull << 60, 0, Address(), &begin), Result::kOutOfMemory);
}

TEST_F(AddressSpaceTest, OnlyAWholeEmptyReservationCanBeFreed) {
  const Address begin = Reserved(4_MiB);
  const HandleId handle = Created(2_MiB);
  EXPECT_EQ(space_.FreeReservation(begin, 2_MiB), Result::kInvalidValue);
  EXPECT_EQ(space_.FreeReservation(begin + 2_MiB, 2_MiB), Result::kInvalidValue);
  ASSERT_EQ(space_.Map(begin + 2_MiB, 2_MiB, 0, handle), Result::kSuccess);
  EXPECT_EQ(space_.FreeReservation(begin, 4_MiB), Result::kInvalidValue);
  ASSERT_EQ(space_.Unmap(begin + 2_MiB, 2_MiB), Result::kSuccess);
  EXPECT_EQ(space_.FreeReservation(begin, 4_MiB), Result::kSuccess);
  EXPECT_EQ(space_.FreeReservation(begin, 4_MiB), Result::kInvalidValue);
}

TEST_F(AddressSpaceTest, CreatingChargesTheCardAndFailsWhenItIsFull) {
  HandleId handle = 0;
  EXPECT_EQ(machine_.physical.Create(0, 3_MiB, ChargeKind::kVmm, &handle), Result::kInvalidValue);
  EXPECT_EQ(machine_.physical.Create(2, 2_MiB, ChargeKind::kVmm, &handle), Result::kInvalidDevice);
  Created(1000_MiB, 1);
  EXPECT_EQ(machine_.CardAt(1).CurrentLedger().vmm, 1000_MiB);
  const Ledger before = machine_.CardAt(1).CurrentLedger();
  EXPECT_EQ(machine_.physical.Create(1, 26_MiB, ChargeKind::kVmm, &handle), Result::kOutOfMemory);
  EXPECT_EQ(machine_.CardAt(1).CurrentLedger(), before);
  EXPECT_EQ(machine_.CardAt(0).CurrentLedger().vmm, 0u);
}

TEST_F(AddressSpaceTest, OnlyWholeHandlesAreMappedIntoReservations) {
  const Address begin = Reserved(8_MiB);
  const HandleId handle = Created(4_MiB);
  EXPECT_EQ(space_.Map(begin, 2_MiB, 0, handle), Result::kNotSupported);
  EXPECT_EQ(space_.Map(begin, 2_MiB, 2_MiB, handle), Result::kNotSupported);
  EXPECT_EQ(space_.Map(begin, 4_MiB, 2_MiB, handle), Result::kNotSupported);
  EXPECT_EQ(space_.Map(begin + 1_MiB, 4_MiB, 0, handle), Result::kInvalidValue);
  EXPECT_EQ(space_.Map(begin + 6_MiB, 4_MiB, 0, handle), Result::kInvalidValue);
  EXPECT_EQ(space_.Map(Address{0x1000'0000}, 4_MiB, 0, handle), Result::kInvalidValue);
  EXPECT_EQ(space_.Map(begin, 4_MiB, 0, handle + 1), Result::kInvalidValue);
  EXPECT_EQ(space_.Map(begin, 4_MiB, 0, handle), Result::kSuccess);
}

TEST_F(AddressSpaceTest, OverlappingMappingIsRejected) {
  const Address begin = Reserved(8_MiB);
  ASSERT_EQ(space_.Map(begin + 2_MiB, 4_MiB, 0, Created(4_MiB)), Result::kSuccess);
  const HandleId other = Created(4_MiB);
  EXPECT_EQ(space_.Map(begin, 4_MiB, 0, other), Result::kInvalidValue);
  EXPECT_EQ(space_.Map(begin + 2_MiB, 4_MiB, 0, other), Result::kInvalidValue);
  EXPECT_EQ(space_.Map(begin + 4_MiB, 4_MiB, 0, other), Result::kInvalidValue);
}

TEST_F(AddressSpaceTest, OnlyWholeAdjacentMappingsAreUnmapped) {
  const Address begin = Reserved(12_MiB);
  ASSERT_EQ(space_.Map(begin, 4_MiB, 0, Created(4_MiB)), Result::kSuccess);
  ASSERT_EQ(space_.Map(begin + 4_MiB, 2_MiB, 0, Created(2_MiB)), Result::kSuccess);
  ASSERT_EQ(space_.Map(begin + 8_MiB, 2_MiB, 0, Created(2_MiB)), Result::kSuccess);
  EXPECT_EQ(space_.Unmap(begin, 2_MiB), Result::kInvalidValue);
  EXPECT_EQ(space_.Unmap(begin + 2_MiB, 2_MiB), Result::kInvalidValue);
  EXPECT_EQ(space_.Unmap(begin, 10_MiB), Result::kInvalidValue);
  EXPECT_EQ(space_.Unmap(begin + 6_MiB, 2_MiB), Result::kInvalidValue);
  EXPECT_TRUE(space_.Find(begin).has_value()) << "a refused unmap changes nothing";
  EXPECT_EQ(space_.Unmap(begin, 6_MiB), Result::kSuccess);
  EXPECT_FALSE(space_.Find(begin).has_value());
  EXPECT_TRUE(space_.Find(begin + 8_MiB).has_value());
}

TEST_F(AddressSpaceTest, MemoryIsFreedWithItsLastHandleAndMapping) {
  const Address begin = Reserved(2_MiB);
  const HandleId mapped = Created(2_MiB);
  ASSERT_EQ(space_.Map(begin, 2_MiB, 0, mapped), Result::kSuccess);
  ASSERT_EQ(machine_.physical.Release(mapped), Result::kSuccess);
  EXPECT_EQ(Free(machine_), 1022_MiB) << "the mapping keeps it";
  EXPECT_EQ(machine_.physical.Release(mapped), Result::kInvalidValue);
  ASSERT_EQ(space_.Unmap(begin, 2_MiB), Result::kSuccess);
  EXPECT_EQ(Free(machine_), 1_GiB);

  const HandleId held = Created(2_MiB);
  ASSERT_EQ(space_.Map(begin, 2_MiB, 0, held), Result::kSuccess);
  ASSERT_EQ(space_.Unmap(begin, 2_MiB), Result::kSuccess);
  EXPECT_EQ(Free(machine_), 1022_MiB) << "the handle keeps it";
  ASSERT_EQ(machine_.physical.Release(held), Result::kSuccess);
  EXPECT_EQ(Free(machine_), 1_GiB);
}

TEST_F(AddressSpaceTest, ReleasedHandleCannotBeMappedAgain) {
  const Address begin = Reserved(4_MiB);
  const HandleId handle = Created(2_MiB);
  ASSERT_EQ(space_.Map(begin, 2_MiB, 0, handle), Result::kSuccess);
  ASSERT_EQ(machine_.physical.Release(handle), Result::kSuccess);
  EXPECT_EQ(space_.Map(begin + 2_MiB, 2_MiB, 0, handle), Result::kInvalidValue);
}

TEST_F(AddressSpaceTest, RetainedHandleNeedsOneMoreRelease) {
  const Address begin = Reserved(2_MiB);
  const HandleId handle = Created(2_MiB);
  ASSERT_EQ(space_.Map(begin, 2_MiB, 0, handle), Result::kSuccess);
  HandleId retained = 0;
  ASSERT_EQ(space_.RetainAt(begin + 1_MiB, &retained), Result::kSuccess);
  EXPECT_EQ(retained, handle);
  ASSERT_EQ(space_.Unmap(begin, 2_MiB), Result::kSuccess);
  ASSERT_EQ(machine_.physical.Release(handle), Result::kSuccess);
  EXPECT_EQ(Free(machine_), 1022_MiB);
  ASSERT_EQ(machine_.physical.Release(handle), Result::kSuccess);
  EXPECT_EQ(Free(machine_), 1_GiB);
  EXPECT_EQ(space_.RetainAt(begin, &retained), Result::kInvalidValue);
}

TEST_F(AddressSpaceTest, AccessIsPerDeviceAndLostAtUnmap) {
  const Address begin = Reserved(2_MiB);
  const HandleId handle = Created(2_MiB);
  EXPECT_EQ(space_.SetAccess(begin, 2_MiB, 0, Access::kReadWrite), Result::kInvalidValue);
  ASSERT_EQ(space_.Map(begin, 2_MiB, 0, handle), Result::kSuccess);
  EXPECT_EQ(space_.SetAccess(begin, 2_MiB, 7, Access::kReadWrite), Result::kInvalidDevice);
  ASSERT_EQ(space_.SetAccess(begin, 2_MiB, 1, Access::kRead), Result::kSuccess);
  Access access = Access::kReadWrite;
  ASSERT_EQ(space_.GetAccess(begin, 0, &access), Result::kSuccess);
  EXPECT_EQ(access, Access::kNone);
  ASSERT_EQ(space_.GetAccess(begin, 1, &access), Result::kSuccess);
  EXPECT_EQ(access, Access::kRead);
  ASSERT_EQ(space_.Unmap(begin, 2_MiB), Result::kSuccess);
  ASSERT_EQ(space_.Map(begin, 2_MiB, 0, handle), Result::kSuccess);
  ASSERT_EQ(space_.GetAccess(begin, 1, &access), Result::kSuccess);
  EXPECT_EQ(access, Access::kNone);
}

long HostMappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

TEST(AddressSpaceScaleTest, ScatteredChunksOf640GiBCostNoHostMapping) {
  constexpr std::uint64_t kChunks = 640_GiB / 2_MiB;
  Machine machine({{.bytes = 700_GiB}}, 64_MiB);
  AddressSpace& space = machine.space;
  Address begin;
  ASSERT_EQ(space.Reserve(2 * kChunks * 2_MiB, 0, Address(), &begin), Result::kSuccess);
  const long before = HostMappings();
  for (std::uint64_t i = 0; i < kChunks; ++i) {
    HandleId handle = 0;
    ASSERT_EQ(machine.physical.Create(0, 2_MiB, ChargeKind::kVmm, &handle), Result::kSuccess);
    // Takes every second place, in an order without adjacent neighbours.
    const Address place = begin + (i * 7919 % kChunks) * 4_MiB;
    ASSERT_EQ(space.Map(place, 2_MiB, 0, handle), Result::kSuccess);
    ASSERT_EQ(space.SetAccess(place, 2_MiB, 0, Access::kReadWrite), Result::kSuccess);
  }
  EXPECT_EQ(machine.CardAt(0).CurrentLedger().vmm, 640_GiB);
  // The heap of this process may grow by a few mappings.
  EXPECT_LT(HostMappings(), before + 100);
}

}  // namespace
}  // namespace memtrace::card
