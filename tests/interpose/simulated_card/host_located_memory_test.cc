// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Memory of the host at addresses of a card: cuMemCreate with a host location.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/interpose/simulated_card/card_state.h"

namespace {

using ::memtrace::card::Activity;

constexpr std::size_t kGranule = 2u << 20;

CUmemAllocationProp At(CUmemLocationType type, int id = 0) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = type;
  properties.location.id = id;
  return properties;
}

// The test's environment bounds the host's memory to 64 MiB.
class HostLocatedMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(memtrace::card::StartCard());
    ASSERT_EQ(cuMemAddressReserve(&begin_, 2 * kGranule, 0, 0, 0), CUDA_SUCCESS);
    before_ = Activity();
  }
  void TearDown() override {
    EXPECT_EQ(cuMemAddressFree(begin_, 2 * kGranule), CUDA_SUCCESS);
    EXPECT_EQ(Activity().host_located_bytes, 0u);
    EXPECT_EQ(Activity().faults, before_.faults);
  }

  static CUresult Create(const CUmemAllocationProp& properties, std::size_t bytes,
                         CUmemGenericAllocationHandle& handle) {
    return cuMemCreate(&handle, bytes, &properties, 0);
  }
  static std::size_t Free() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    return free;
  }
  // Maps a new chunk at one of the two granules, and releases its handle.
  void MapAt(CUdeviceptr address, const CUmemAllocationProp& properties) const {
    CUmemGenericAllocationHandle handle = 0;
    ASSERT_EQ(Create(properties, kGranule, handle), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(address, kGranule, 0, handle, 0), CUDA_SUCCESS);
    CUmemAccessDesc access = {};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    ASSERT_EQ(cuMemSetAccess(address, kGranule, &access, 1), CUDA_SUCCESS);
    ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  }

  CUdeviceptr begin_ = 0;
  struct memtrace_card_activity before_ {};
};

TEST_F(HostLocatedMemoryTest, ItIsNotChargedToTheCardAndGoesBackToTheHost) {
  const std::size_t free = Free();
  MapAt(begin_, At(CU_MEM_LOCATION_TYPE_HOST_NUMA));
  EXPECT_EQ(Free(), free);
  EXPECT_EQ(Activity().host_located_bytes, kGranule);
  EXPECT_GE(Activity().host_located_peak, kGranule);
  ASSERT_EQ(cuMemUnmap(begin_, kGranule), CUDA_SUCCESS);
}

TEST_F(HostLocatedMemoryTest, ItHasContentsAndCopiesToItPassTheBus) {
  MapAt(begin_, At(CU_MEM_LOCATION_TYPE_HOST_NUMA));
  MapAt(begin_ + kGranule, At(CU_MEM_LOCATION_TYPE_DEVICE));
  const std::vector<std::uint32_t> written(1024, 7);
  std::vector<std::uint32_t> read(1024);
  const std::uint64_t before = Activity().bus_bytes;
  ASSERT_EQ(cuMemcpyHtoD(begin_ + kGranule, written.data(), 4096), CUDA_SUCCESS);
  EXPECT_EQ(Activity().bus_bytes - before, 4096u) << "from the host to the card";
  ASSERT_EQ(cuMemcpyDtoD(begin_, begin_ + kGranule, 4096), CUDA_SUCCESS);
  EXPECT_EQ(Activity().bus_bytes - before, 8192u) << "and from the card to the host's memory";
  ASSERT_EQ(cuMemcpyDtoH(read.data(), begin_, 4096), CUDA_SUCCESS);
  EXPECT_EQ(Activity().bus_bytes - before, 8192u) << "both sides are in the host's memory";
  EXPECT_EQ(read, written);
  ASSERT_EQ(cuMemUnmap(begin_, 2 * kGranule), CUDA_SUCCESS);
}

TEST_F(HostLocatedMemoryTest, AFullHostIsOutOfMemory) {
  CUmemGenericAllocationHandle all = 0;
  CUmemGenericAllocationHandle more = 0;
  ASSERT_EQ(Create(At(CU_MEM_LOCATION_TYPE_HOST_NUMA), 32 * kGranule, all), CUDA_SUCCESS);
  EXPECT_EQ(Create(At(CU_MEM_LOCATION_TYPE_HOST_NUMA), kGranule, more), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuMemRelease(all), CUDA_SUCCESS);
}

TEST_F(HostLocatedMemoryTest, ItCannotBeExportedAndHasOneNode) {
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp shared = At(CU_MEM_LOCATION_TYPE_HOST_NUMA);
  shared.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  EXPECT_EQ(Create(shared, kGranule, handle), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(Create(At(CU_MEM_LOCATION_TYPE_HOST_NUMA, 1), kGranule, handle),
            CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(HostLocatedMemoryTest, AHandleTellsWhereItsMemoryIs) {
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_EQ(Create(At(CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT), kGranule, handle), CUDA_SUCCESS);
  CUmemAllocationProp told = {};
  ASSERT_EQ(cuMemGetAllocationPropertiesFromHandle(&told, handle), CUDA_SUCCESS);
  EXPECT_EQ(told.location.type, CU_MEM_LOCATION_TYPE_HOST_NUMA);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

}  // namespace
