// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_CARD_VMM_CONTRACT_H_
#define MEMTRACE_TESTS_ALLOCATOR_CARD_VMM_CONTRACT_H_

#include <gtest/gtest.h>

#include "allocator/card/vmm.h"

namespace memtrace {

// The rules of Vmm, for any implementation. `Driver` is default-constructible and has vmm(), a
// card with at least 16 free granules that nothing else uses. is_real_driver() tells if it allows
// two misuses: mapping beyond a reservation, and unmapping a range that is not mapped (an H200 with
// driver 580 does).
//
//   INSTANTIATE_TYPED_TEST_SUITE_P(MemoryVmm, VmmContract, MemoryVmmDriver);
template <typename Driver>
class VmmContract : public ::testing::Test {
 protected:
  static constexpr absl::StatusCode kRefused = absl::StatusCode::kInvalidArgument;

  Vmm& vmm() { return driver_.vmm(); }
  Bytes granule() { return vmm().granularity(); }
  Bytes free() { return vmm().MemoryInfo().value().free; }
  DeviceAddress Reserve(Bytes granules) { return vmm().Reserve(granules * granule()).value(); }
  ChunkHandle Create(Bytes granules) { return vmm().Create(granules * granule()).value(); }
  absl::Status Map(DeviceAddress base, Bytes at, Bytes granules, ChunkHandle chunk) {
    absl::Status status = vmm().Map(base + at * granule(), granules * granule(), chunk);
    if (status.ok()) status = vmm().GiveAccess(base + at * granule(), granules * granule());
    return status;
  }
  absl::Status Unmap(DeviceAddress base, Bytes at, Bytes granules) {
    return vmm().Unmap(base + at * granule(), granules * granule());
  }
  absl::Status ReleaseReservation(DeviceAddress base, Bytes granules) {
    return vmm().ReleaseReservation(base, granules * granule());
  }

  Driver driver_;
};

TYPED_TEST_SUITE_P(VmmContract);

TYPED_TEST_P(VmmContract, ReservationsCostNoMemoryAndDoNotOverlap) {
  const Bytes before = this->free();
  const DeviceAddress a = this->Reserve(1024);
  const DeviceAddress b = this->Reserve(1024);
  EXPECT_EQ(this->free(), before);
  EXPECT_GE(b > a ? b - a : a - b, 1024 * this->granule());
  EXPECT_EQ(a.value() % this->granule(), 0u);
  EXPECT_TRUE(this->ReleaseReservation(a, 1024).ok());
  EXPECT_TRUE(this->ReleaseReservation(b, 1024).ok());
}

TYPED_TEST_P(VmmContract, ChunkTakesItsSizeFromTheCardWhenCreated) {
  const Bytes before = this->free();
  const ChunkHandle chunk = this->Create(3);
  EXPECT_EQ(this->free(), before - 3 * this->granule());
  EXPECT_TRUE(this->vmm().Release(chunk).ok());
  EXPECT_EQ(this->free(), before);
}

TYPED_TEST_P(VmmContract, MappingKeepsAReleasedChunkUntilItIsUnmapped) {
  const Bytes before = this->free();
  const DeviceAddress base = this->Reserve(4);
  const ChunkHandle chunk = this->Create(2);
  ASSERT_TRUE(this->Map(base, 0, 2, chunk).ok());
  EXPECT_TRUE(this->vmm().Release(chunk).ok());
  EXPECT_EQ(this->free(), before - 2 * this->granule());
  EXPECT_TRUE(this->Unmap(base, 0, 2).ok());
  EXPECT_EQ(this->free(), before);
  EXPECT_TRUE(this->ReleaseReservation(base, 4).ok());
}

TYPED_TEST_P(VmmContract, UnmappedChunkCanBeMappedElsewhere) {
  const DeviceAddress base = this->Reserve(4);
  const ChunkHandle chunk = this->Create(1);
  ASSERT_TRUE(this->Map(base, 0, 1, chunk).ok());
  ASSERT_TRUE(this->Unmap(base, 0, 1).ok());
  EXPECT_TRUE(this->Map(base, 3, 1, chunk).ok());
  EXPECT_TRUE(this->Unmap(base, 3, 1).ok());
  EXPECT_TRUE(this->vmm().Release(chunk).ok());
  EXPECT_TRUE(this->ReleaseReservation(base, 4).ok());
}

TYPED_TEST_P(VmmContract, RetainedChunkIsMappedAtSeveralAddressesAndChargedOnce) {
  const Bytes before = this->free();
  const DeviceAddress base = this->Reserve(8);
  const ChunkHandle chunk = this->Create(2);
  ASSERT_TRUE(this->Map(base, 0, 2, chunk).ok());
  ASSERT_TRUE(this->vmm().Release(chunk).ok());
  const auto again = this->vmm().Retain(base);
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(this->Map(base, 4, 2, *again).ok());
  EXPECT_TRUE(this->vmm().Release(*again).ok());
  EXPECT_EQ(this->free(), before - 2 * this->granule());
  EXPECT_TRUE(this->Unmap(base, 0, 2).ok());
  EXPECT_EQ(this->free(), before - 2 * this->granule());
  EXPECT_FALSE(this->vmm().Retain(base).ok());
  EXPECT_TRUE(this->Unmap(base, 4, 2).ok());
  EXPECT_EQ(this->free(), before);
  EXPECT_TRUE(this->ReleaseReservation(base, 8).ok());
}

TYPED_TEST_P(VmmContract, MappedRangeIsNotMappedAgain) {
  const DeviceAddress base = this->Reserve(4);
  const ChunkHandle first = this->Create(2);
  const ChunkHandle second = this->Create(2);
  ASSERT_TRUE(this->Map(base, 0, 2, first).ok());
  EXPECT_EQ(this->Map(base, 1, 2, second).code(), this->kRefused);
  EXPECT_TRUE(this->Map(base, 2, 2, second).ok());
  EXPECT_TRUE(this->Unmap(base, 0, 2).ok());
  EXPECT_TRUE(this->Unmap(base, 2, 2).ok());
  EXPECT_TRUE(this->vmm().Release(first).ok());
  EXPECT_TRUE(this->vmm().Release(second).ok());
  EXPECT_TRUE(this->ReleaseReservation(base, 4).ok());
}

TYPED_TEST_P(VmmContract, MappingLeavesTheReservationNowhere) {
  if (this->driver_.is_real_driver()) GTEST_SKIP() << "a real driver does not check it";
  const DeviceAddress base = this->Reserve(2);
  const ChunkHandle chunk = this->Create(2);
  EXPECT_EQ(this->Map(base, 1, 2, chunk).code(), this->kRefused);
  EXPECT_TRUE(this->vmm().Release(chunk).ok());
  EXPECT_TRUE(this->ReleaseReservation(base, 2).ok());
}

TYPED_TEST_P(VmmContract, PartOfAChunkIsNotUnmapped) {
  const DeviceAddress base = this->Reserve(2);
  const ChunkHandle chunk = this->Create(2);
  ASSERT_TRUE(this->Map(base, 0, 2, chunk).ok());
  EXPECT_EQ(this->Unmap(base, 0, 1).code(), this->kRefused);
  EXPECT_EQ(this->Unmap(base, 1, 1).code(), this->kRefused);
  EXPECT_TRUE(this->Unmap(base, 0, 2).ok());
  if (!this->driver_.is_real_driver()) {
    EXPECT_EQ(this->Unmap(base, 0, 2).code(), this->kRefused);
  }
  EXPECT_TRUE(this->vmm().Release(chunk).ok());
  EXPECT_TRUE(this->ReleaseReservation(base, 2).ok());
}

TYPED_TEST_P(VmmContract, AccessIsGivenToChunksSideBySideAtOnce) {
  const DeviceAddress base = this->Reserve(4);
  for (const Bytes granules : {Bytes{1}, Bytes{2}}) {  // the second at 1
    const ChunkHandle chunk = this->Create(granules);
    const DeviceAddress at = base + (granules - 1) * this->granule();
    ASSERT_TRUE(this->vmm().Map(at, granules * this->granule(), chunk).ok());
    EXPECT_TRUE(this->vmm().Release(chunk).ok());
  }
  EXPECT_EQ(this->vmm().GiveAccess(base, 4 * this->granule()).code(), this->kRefused);
  EXPECT_TRUE(this->vmm().GiveAccess(base, 3 * this->granule()).ok());
  EXPECT_TRUE(this->Unmap(base, 0, 3).ok());
  EXPECT_TRUE(this->ReleaseReservation(base, 4).ok());
}

TYPED_TEST_P(VmmContract, SizesAreGranular) {
  const Bytes odd = this->granule() + 512;
  EXPECT_EQ(this->vmm().Reserve(odd).status().code(), this->kRefused);
  EXPECT_EQ(this->vmm().Create(odd).status().code(), this->kRefused);
  EXPECT_EQ(this->vmm().Create(0).status().code(), this->kRefused);
}

TYPED_TEST_P(VmmContract, FullCardIsExhaustedAndLosesNothing) {
  const Bytes before = this->free();
  const auto chunk = this->vmm().Create(RoundUp(before + 1, this->granule()));
  EXPECT_EQ(chunk.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(this->free(), before);
}

REGISTER_TYPED_TEST_SUITE_P(VmmContract, ReservationsCostNoMemoryAndDoNotOverlap,
                            ChunkTakesItsSizeFromTheCardWhenCreated,
                            MappingKeepsAReleasedChunkUntilItIsUnmapped,
                            UnmappedChunkCanBeMappedElsewhere,
                            RetainedChunkIsMappedAtSeveralAddressesAndChargedOnce,
                            MappedRangeIsNotMappedAgain, MappingLeavesTheReservationNowhere,
                            PartOfAChunkIsNotUnmapped, AccessIsGivenToChunksSideBySideAtOnce,
                            SizesAreGranular, FullCardIsExhaustedAndLosesNothing);

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_ALLOCATOR_CARD_VMM_CONTRACT_H_
