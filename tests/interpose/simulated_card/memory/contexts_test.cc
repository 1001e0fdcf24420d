// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Contexts that a program makes and ends, through the driver's C interface. MEMTRACE_CARD is
// 1GiB,context=100MiB.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

#include "interpose/simulated_card/interface/card_control.h"

extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device);

namespace {

constexpr std::uint64_t kMiB = 1u << 20;

struct memtrace_card_ledger Ledger() {
  struct memtrace_card_ledger ledger = {};
  ledger.size = sizeof(ledger);
  EXPECT_EQ(memtrace_card_ledger(0, &ledger), MEMTRACE_CARD_OK);
  return ledger;
}

CUdeviceptr Allocated(std::size_t bytes) {
  CUdeviceptr pointer = 0;
  EXPECT_EQ(cuMemAlloc(&pointer, bytes), CUDA_SUCCESS);
  return pointer;
}

CUcontext Current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  return context;
}

class ContextsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cuInit(0), CUDA_SUCCESS); }
  // Every test must leave nothing behind.
  void TearDown() override {
    while (Current() != nullptr) cuCtxPopCurrent(nullptr);
    EXPECT_EQ(Ledger().free, 1024 * kMiB);
  }
};

TEST_F(ContextsTest, SecondContextIsChargedAndFreedWithItsMemory) {
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  ASSERT_EQ(cuCtxCreate(&first, nullptr, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(Current(), first);
  const CUdeviceptr kept = Allocated(4 * kMiB);
  ASSERT_EQ(cuCtxCreate_v2(&second, CU_CTX_MAP_HOST, 0), CUDA_SUCCESS);
  EXPECT_EQ(Current(), second);
  EXPECT_EQ(Ledger().context, 200 * kMiB);
  Allocated(8 * kMiB);
  Allocated(1000);
  CUcontext owner = nullptr;
  ASSERT_EQ(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, kept), CUDA_SUCCESS);
  EXPECT_EQ(owner, first);
  ASSERT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
  EXPECT_EQ(Current(), first);  // popped, because it was current
  EXPECT_EQ(Ledger().context, 100 * kMiB);
  EXPECT_EQ(Ledger().runtime_allocated, 4 * kMiB);
  EXPECT_EQ(cuMemFree(kept), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(first), CUDA_SUCCESS);
}

TEST_F(ContextsTest, DestroyedContextIsInvalidInOtherThreads) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  CUcontext popped = nullptr;
  ASSERT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  std::thread([context] {
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    std::thread([context] { EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS); }).join();
    EXPECT_EQ(Current(), context);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  }).join();
  EXPECT_EQ(cuCtxSetCurrent(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ContextsTest, MemoryOfCuMemCreateOutlivesTheContext) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
  CUmemGenericAllocationHandle handle = 0;
  ASSERT_EQ(cuMemCreate(&handle, 2 * kMiB, &properties, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  EXPECT_EQ(Ledger().vmm_allocated, 2 * kMiB);
  EXPECT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
}

TEST_F(ContextsTest, LastReleaseOfThePrimaryContextFreesEverything) {
  CUcontext context = nullptr;
  CUcontext again = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(context), CUDA_SUCCESS);
  const CUdeviceptr pointer = Allocated(16 * kMiB);
  void* pinned = nullptr;
  ASSERT_EQ(cuMemAllocHost(&pinned, 100), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(Ledger().free, 1024 * kMiB - 100 * kMiB - 16 * kMiB);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(Ledger().free, 1024 * kMiB);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(Current(), context);  // it is popped from no stack
  EXPECT_EQ(cuMemFree(pointer), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  struct memtrace_card_live live = {};
  live.size = sizeof(live);
  ASSERT_EQ(memtrace_card_get_live(&live), MEMTRACE_CARD_OK);
  EXPECT_EQ(live.allocations + live.pinned, 0u);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(again, context);
  EXPECT_EQ(cuMemFree(pointer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
}

TEST_F(ContextsTest, ContextThatDoesNotFitChangesNothing) {
  CUcontext first = nullptr;
  ASSERT_EQ(cuCtxCreate(&first, nullptr, 0, 0), CUDA_SUCCESS);
  const CUdeviceptr most = Allocated(850 * kMiB);
  CUcontext second = nullptr;
  EXPECT_EQ(cuCtxCreate(&second, nullptr, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(Current(), first);
  EXPECT_EQ(Ledger().context, 100 * kMiB);
  EXPECT_EQ(cuMemFree(most), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(first), CUDA_SUCCESS);
}

TEST_F(ContextsTest, ContextsHaveIdsAndFlags) {
  CUcontext first = nullptr;
  CUcontext second = nullptr;
  ASSERT_EQ(cuCtxCreate(&first, nullptr, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_SPIN, 0), CUDA_SUCCESS);
  unsigned long long first_id = 0;
  unsigned long long second_id = 0;
  ASSERT_EQ(cuCtxGetId(first, &first_id), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetId(nullptr, &second_id), CUDA_SUCCESS);
  EXPECT_NE(first_id, second_id);
  unsigned flags = 0;
  ASSERT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, static_cast<unsigned>(CU_CTX_SCHED_SPIN));
  EXPECT_EQ(cuCtxCreate(&second, nullptr, 1u << 20, 0), CUDA_ERROR_INVALID_VALUE);
  CUcontext primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(primary), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(first), CUDA_SUCCESS);
}

}  // namespace
