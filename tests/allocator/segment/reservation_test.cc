// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/segment/reservation.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "allocator/card/call_failures.h"
#include "allocator/card/memory_vmm.h"

namespace memtrace {
namespace {

using Repeat = CallFailures::Repeat;

constexpr Bytes kGranule = 2_MiB;
constexpr Bytes kAll = ~Bytes{0};
constexpr uint64_t kReservedGranules = 24;
constexpr uint64_t kCardGranules = 16;

// Offsets and sizes are in granules.
class ReservationTest : public ::testing::Test {
 protected:
  ReservationTest()
      : vmm_({.capacity = kCardGranules * kGranule}, nullptr, &failures_),
        address_(vmm_.Reserve(kReservedGranules * kGranule).value()),
        reservation_(std::make_unique<Reservation>(
            AddressRange::Of(address_, kReservedGranules * kGranule), kGranule, vmm_)) {}

  absl::Status Map(uint64_t first, uint64_t count, uint32_t chunk = 32) {
    return reservation_->Map(At(first), count * kGranule, chunk);
  }
  Reservation::Unmapped Unmap(uint64_t first, uint64_t end, Bytes wanted = kAll) {
    return reservation_->Unmap({At(first), At(end)}, wanted);
  }
  DeviceAddress At(uint64_t granule) const { return address_ + granule * kGranule; }

  void Fail(DriverCall call, uint64_t nth, Repeat repeat) {
    failures_.FailNth(call, nth, repeat, absl::InternalError("injected"));
  }
  void FailFromCallOn(uint64_t nth) {
    failures_.FailNthOfAny(nth, Repeat::kFromThenOn, absl::InternalError("injected"));
  }

  CallFailures failures_;
  MemoryVmm vmm_;
  const DeviceAddress address_;
  std::unique_ptr<Reservation> reservation_;
};

TEST_F(ReservationTest, MappingIsCutIntoPowersOfTwo) {
  ASSERT_TRUE(Map(1, 7).ok());
  EXPECT_EQ(reservation_->chunks().Picture(), ".xxxxxxx");
  EXPECT_EQ(reservation_->mapped(), 7 * kGranule);
  EXPECT_EQ(reservation_->chunks().ranges(), 1);
  EXPECT_EQ(vmm_.live_mappings(), 3u);  // 4, 2 and 1
}

TEST_F(ReservationTest, ChunksAreAtMostTheRequestedSize) {
  ASSERT_TRUE(Map(0, 7, /*chunk=*/2).ok());
  EXPECT_EQ(vmm_.live_mappings(), 4u);  // 2, 2, 2 and 1
}

TEST_F(ReservationTest, UnmappingGoesDownFromTheTopUntilEnoughIsUnmapped) {
  ASSERT_TRUE(Map(0, 7).ok());
  const auto unmapped = Unmap(0, 7, 2 * kGranule);
  EXPECT_TRUE(unmapped.status.ok());
  EXPECT_EQ(unmapped.range.begin, At(4));
  EXPECT_EQ(unmapped.range.end, At(7));
  EXPECT_EQ(reservation_->chunks().Picture(), "xxxx");
  EXPECT_EQ(vmm_.used(), 4 * kGranule);
}

TEST_F(ReservationTest, PartlyCoveredChunksStayMapped) {
  ASSERT_TRUE(Map(0, 7).ok());
  EXPECT_EQ(reservation_->chunks().Unmappable({At(1), At(7)}).size(), 3 * kGranule);
  EXPECT_EQ(reservation_->chunks().Unmappable({At(4) + 512, At(7)}).size(), kGranule);
  const auto unmapped = Unmap(1, 7);
  EXPECT_EQ(unmapped.range.begin, At(4));
  EXPECT_EQ(unmapped.range.end, At(7));
  const auto nothing = Unmap(1, 4);
  EXPECT_TRUE(nothing.status.ok());
  EXPECT_EQ(nothing.range.size(), 0u);
  EXPECT_EQ(reservation_->chunks().Picture(), "xxxx");
}

TEST_F(ReservationTest, ChunksUnderARangeAreThoseThatItTouches) {
  ASSERT_TRUE(Map(0, 7).ok());
  const auto chunks = reservation_->chunks().Under(AddressRange::Of(At(4) - 1, 512));
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0].address, At(0));
  EXPECT_EQ(chunks[0].size, 4 * kGranule);
  EXPECT_EQ(chunks[1].address, At(4));
  EXPECT_NE(chunks[0].serial, chunks[1].serial);
  EXPECT_TRUE(reservation_->chunks().Under({At(7), At(8)}).empty());
}

TEST_F(ReservationTest, FailureDuringAMappingChangesNothing) {
  ASSERT_TRUE(Map(0, 2).ok());
  // Chunks of 4, 2 and 1 are each created and mapped; then one call gives access to all of them.
  for (const DriverCall call : {DriverCall::kCreate, DriverCall::kMap, DriverCall::kGiveAccess}) {
    const uint64_t times = call == DriverCall::kGiveAccess ? 1 : 3;
    for (uint64_t nth = 1; nth <= times; ++nth) {
      Fail(call, nth, Repeat::kOnce);
      EXPECT_EQ(Map(4, 7).code(), absl::StatusCode::kInternal) << nth;
      EXPECT_EQ(reservation_->chunks().Picture(), "xx") << nth;
      EXPECT_EQ(reservation_->mapped(), 2 * kGranule) << nth;
      EXPECT_EQ(reservation_->chunks().ranges(), 1) << nth;
      EXPECT_EQ(vmm_.used(), 2 * kGranule) << nth;
      EXPECT_EQ(vmm_.live_mappings(), 1u) << nth;
      EXPECT_EQ(vmm_.live_chunks(), 1u) << nth;
    }
  }
  EXPECT_TRUE(Map(4, 7).ok());
  EXPECT_EQ(reservation_->chunks().Picture(), "xx..xxxxxxx");
}

TEST_F(ReservationTest, FullCardDuringAMappingChangesNothing) {
  ASSERT_TRUE(Map(0, 2).ok());
  EXPECT_EQ(Map(4, 15, /*chunk=*/4).code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(reservation_->chunks().Picture(), "xx");
  EXPECT_EQ(vmm_.used(), 2 * kGranule);
  EXPECT_EQ(vmm_.live_mappings(), 1u);
}

TEST_F(ReservationTest, UndoRestUnmapsRemainingChunks) {
  FailFromCallOn(5);  // create, map, release, create: the second chunk is not mapped
  EXPECT_FALSE(Map(0, 6).ok());
  EXPECT_EQ(reservation_->mapped(), 0u);
  EXPECT_EQ(vmm_.used(), 6 * kGranule);
  EXPECT_FALSE(reservation_->UndoRest().ok());
  EXPECT_EQ(vmm_.used(), 6 * kGranule);
  failures_.StopFailing();
  EXPECT_TRUE(reservation_->UndoRest().ok());
  EXPECT_EQ(vmm_.used(), 0u);
  EXPECT_EQ(vmm_.live_mappings(), 0u);
  EXPECT_EQ(vmm_.live_chunks(), 0u);
}

TEST_F(ReservationTest, UndoRestContinuesWhereItFailed) {
  Fail(DriverCall::kGiveAccess, 1, Repeat::kFromThenOn);
  ASSERT_FALSE(Map(0, 6).ok());  // undone at once, because only giving access fails
  ASSERT_EQ(vmm_.live_mappings(), 0u);
  FailFromCallOn(7);  // after create, map and release of both chunks
  ASSERT_FALSE(Map(0, 6).ok());
  ASSERT_EQ(vmm_.live_mappings(), 2u);
  Fail(DriverCall::kUnmap, 2, Repeat::kOnce);
  EXPECT_FALSE(reservation_->UndoRest().ok());
  EXPECT_EQ(vmm_.live_mappings(), 1u);
  EXPECT_TRUE(reservation_->UndoRest().ok());
  EXPECT_EQ(vmm_.live_mappings(), 0u);
}

TEST_F(ReservationTest, NextMappingUndoesTheRestFirst) {
  FailFromCallOn(7);
  ASSERT_FALSE(Map(0, 6).ok());
  EXPECT_FALSE(Map(0, 6).ok());
  failures_.StopFailing();
  EXPECT_TRUE(Map(0, 12).ok());  // the card has no room for both
  EXPECT_EQ(vmm_.used(), 12 * kGranule);
}

TEST_F(ReservationTest, UnreleasedHandleHoldsItsMemoryUntilUndoRest) {
  Fail(DriverCall::kRelease, 1, Repeat::kFromThenOn);
  EXPECT_TRUE(Map(0, 4).ok());
  EXPECT_EQ(reservation_->chunks().Picture(), "xxxx");
  EXPECT_TRUE(Unmap(0, 4).status.ok());
  EXPECT_EQ(vmm_.used(), 4 * kGranule);
  EXPECT_EQ(reservation_->Close().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(vmm_.live_reservations(), 1u);
  failures_.StopFailing();
  EXPECT_TRUE(reservation_->UndoRest().ok());
  EXPECT_EQ(vmm_.used(), 0u);
  EXPECT_TRUE(reservation_->Close().ok());
}

TEST_F(ReservationTest, FailedUnmapKeepsThatChunkAndTheLowerOnesMapped) {
  ASSERT_TRUE(Map(0, 7).ok());
  Fail(DriverCall::kUnmap, 2, Repeat::kOnce);
  const auto unmapped = Unmap(0, 7);
  EXPECT_EQ(unmapped.status.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(unmapped.range.begin, At(6));
  EXPECT_EQ(unmapped.range.end, At(7));
  EXPECT_EQ(reservation_->chunks().Picture(), "xxxxxx");
  EXPECT_EQ(vmm_.used(), 6 * kGranule);
}

TEST_F(ReservationTest, FailedCloseCanBeRetried) {
  Fail(DriverCall::kReleaseReservation, 1, Repeat::kOnce);
  EXPECT_FALSE(reservation_->Close().ok());
  EXPECT_EQ(vmm_.live_reservations(), 1u);
  EXPECT_TRUE(reservation_->Close().ok());
  EXPECT_EQ(vmm_.live_reservations(), 0u);
  reservation_.reset();
  EXPECT_EQ(failures_.calls(DriverCall::kReleaseReservation), 2u);
}

TEST_F(ReservationTest, DestructorReleasesMappedAndUndoneMemory) {
  ASSERT_TRUE(Map(0, 3).ok());
  FailFromCallOn(7);
  ASSERT_FALSE(Map(4, 6).ok());
  failures_.StopFailing();
  reservation_.reset();
  EXPECT_EQ(vmm_.live_mappings() + vmm_.live_chunks() + vmm_.live_reservations(), 0u);
}

}  // namespace
}  // namespace memtrace
