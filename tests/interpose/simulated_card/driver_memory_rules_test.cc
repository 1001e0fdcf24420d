// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The rules of cuMem* by the numbers of cuda.h, through the exported functions. Nothing here knows
// of the simulation but the card's size, so that the same suite can be pointed at a real driver.
#include <cuda.h>
#include <gtest/gtest.h>

namespace {

constexpr std::size_t kGranule = 2u << 20;

class DriverMemoryRulesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS) << "set MEMTRACE_CARD, as ctest does";
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    free_before_ = Free();
  }

  // Every test must give all memory back.
  void TearDown() override { EXPECT_EQ(Free(), free_before_); }

  static std::size_t Free() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    return free;
  }

  static CUmemAllocationProp Properties() {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    return properties;
  }

  static CUmemGenericAllocationHandle Create(std::size_t bytes) {
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp properties = Properties();
    EXPECT_EQ(cuMemCreate(&handle, bytes, &properties, 0), CUDA_SUCCESS);
    return handle;
  }

  static CUdeviceptr Reserve(std::size_t bytes) {
    CUdeviceptr begin = 0;
    EXPECT_EQ(cuMemAddressReserve(&begin, bytes, 0, 0, 0), CUDA_SUCCESS);
    return begin;
  }

  static CUresult Allow(CUdeviceptr begin, std::size_t bytes) {
    CUmemAccessDesc access = {};
    access.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return cuMemSetAccess(begin, bytes, &access, 1);
  }

  std::size_t free_before_ = 0;
};

TEST_F(DriverMemoryRulesTest, GranularityIsTwoMiB) {
  std::size_t granularity = 0;
  const CUmemAllocationProp properties = Properties();
  ASSERT_EQ(cuMemGetAllocationGranularity(&granularity, &properties,
                                          CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
            CUDA_SUCCESS);
  EXPECT_EQ(granularity, kGranule);
  EXPECT_EQ(cuMemGetAllocationGranularity(nullptr, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemoryRulesTest, ChunkIsCreatedMappedUsedAndReleased) {
  const CUdeviceptr begin = Reserve(2 * kGranule);
  const CUmemGenericAllocationHandle handle = Create(kGranule);
  EXPECT_EQ(Free(), free_before_ - kGranule);
  ASSERT_EQ(cuMemMap(begin, kGranule, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(Allow(begin, kGranule), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32(begin, 7, 16), CUDA_SUCCESS);
  unsigned value = 0;
  ASSERT_EQ(cuMemcpyDtoH(&value, begin + 60, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 7u);
  ASSERT_EQ(cuMemUnmap(begin, kGranule), CUDA_SUCCESS);
  ASSERT_EQ(cuMemMap(begin + kGranule, kGranule, 0, handle, 0), CUDA_SUCCESS);
  ASSERT_EQ(Allow(begin + kGranule, kGranule), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoH(&value, begin + kGranule, 4), CUDA_SUCCESS);
  EXPECT_EQ(value, 7u) << "contents belong to the handle";
  ASSERT_EQ(cuMemUnmap(begin + kGranule, kGranule), CUDA_SUCCESS);
  ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAddressFree(begin, 2 * kGranule), CUDA_SUCCESS);
}

TEST_F(DriverMemoryRulesTest, MisuseOfReservationsIsAnInvalidValue) {
  CUdeviceptr begin = 0;
  EXPECT_EQ(cuMemAddressReserve(&begin, kGranule + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(&begin, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(&begin, kGranule, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressReserve(nullptr, kGranule, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  begin = Reserve(2 * kGranule);
  EXPECT_EQ(cuMemAddressFree(begin, kGranule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(begin, 2 * kGranule), CUDA_SUCCESS);
}

TEST_F(DriverMemoryRulesTest, MisuseOfHandlesIsAnInvalidValue) {
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp properties = Properties();
  EXPECT_EQ(cuMemCreate(&handle, kGranule / 2, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemCreate(&handle, kGranule, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  properties.location.id = 99;
  EXPECT_EQ(cuMemCreate(&handle, kGranule, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
  handle = Create(kGranule);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(DriverMemoryRulesTest, HandleLargerThanTheCardIsOutOfMemoryAndChangesNothing) {
  CUmemGenericAllocationHandle handle = 42;
  const CUmemAllocationProp properties = Properties();
  const std::size_t too_much = (free_before_ / kGranule + 1) * kGranule;
  EXPECT_EQ(cuMemCreate(&handle, too_much, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(handle, 42u);
  EXPECT_EQ(Free(), free_before_);
}

TEST_F(DriverMemoryRulesTest, MisuseOfMappingsIsRejected) {
  const CUdeviceptr begin = Reserve(4 * kGranule);
  const CUmemGenericAllocationHandle handle = Create(2 * kGranule);
  EXPECT_EQ(cuMemMap(begin, kGranule, 0, handle, 0), CUDA_ERROR_NOT_SUPPORTED)
      << "part of a handle";
  EXPECT_EQ(cuMemMap(begin, 2 * kGranule, 0, handle, 1), CUDA_ERROR_INVALID_VALUE) << "flags";
  ASSERT_EQ(cuMemMap(begin, 2 * kGranule, 0, handle, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemMap(begin + kGranule, 2 * kGranule, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(begin, 4 * kGranule), CUDA_ERROR_INVALID_VALUE) << "still mapped";
  EXPECT_EQ(cuMemUnmap(begin, kGranule), CUDA_ERROR_INVALID_VALUE) << "part of a mapping";
  EXPECT_EQ(Allow(begin, 3 * kGranule), CUDA_ERROR_INVALID_VALUE) << "beyond the mapping";
  EXPECT_EQ(cuMemUnmap(begin, 2 * kGranule), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(begin, 4 * kGranule), CUDA_SUCCESS);
}

TEST_F(DriverMemoryRulesTest, VirtualMemoryCallsDoNotApplyToPlainAllocations) {
  CUdeviceptr plain = 0;
  ASSERT_EQ(cuMemAlloc(&plain, kGranule), CUDA_SUCCESS);
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(cuMemUnmap(plain, kGranule), CUDA_ERROR_INVALID_VALUE);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
  EXPECT_EQ(cuMemRetainAllocationHandle(&handle, reinterpret_cast<void*>(plain)),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(Allow(plain, kGranule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(plain, kGranule), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(plain), CUDA_SUCCESS);
}

TEST_F(DriverMemoryRulesTest, UnknownEntryPointsAreNotFoundAndNull) {
  void* address = &address;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  cuGetProcAddress("cuNoSuchThing", &address, 13000, 0, &status);  // 13.0 answers 0, ours 500
  EXPECT_EQ(address, nullptr);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress("cuMemAlloc", &address, 13000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<void*>(&cuMemAlloc));
  const void* table = nullptr;
  EXPECT_EQ(cuGetExportTable(&table, nullptr), CUDA_ERROR_INVALID_VALUE);
}

// Since 13.1, cuLaunchHostFunc has one more parameter, and is requested by the same name.
TEST_F(DriverMemoryRulesTest, EntryPointDependsOnTheRequestedVersion) {
  int driver = 0;
  ASSERT_EQ(cuDriverGetVersion(&driver), CUDA_SUCCESS);
  if (driver < 13020) GTEST_SKIP() << "needs a driver of CUDA 13.2 or newer";
  void* address = nullptr;
  EXPECT_EQ(cuGetProcAddress("cuLaunchHostFunc", &address, 13000, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(address, reinterpret_cast<void*>(&cuLaunchHostFunc));
  EXPECT_EQ(cuGetProcAddress("cuLaunchHostFunc", &address, 13010, 0, nullptr), CUDA_SUCCESS);
  EXPECT_NE(address, reinterpret_cast<void*>(&cuLaunchHostFunc));
  EXPECT_EQ(cuGetProcAddress("cuFuncGetParamCount", &address, 13010, 0, nullptr),
            CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(cuGetProcAddress("cuFuncGetParamCount", &address, 13020, 0, nullptr), CUDA_SUCCESS);
}

TEST_F(DriverMemoryRulesTest, ContextsOfAThreadAreAStack) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
  CUcontext popped = nullptr;
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, context);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxPushCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
}

}  // namespace
