// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The runtime and cuBLAS on two cards of 8 and 2 GiB (MEMTRACE_CARD as ctest sets it).
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"

namespace {

using ::testing::HasSubstr;

constexpr std::size_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::size_t operator""_GiB(unsigned long long n) { return n << 30; }

struct memtrace_card_activity Activity() {
  struct memtrace_card_activity activity = {};
  activity.size = sizeof(activity);
  EXPECT_EQ(memtrace_card_activity(&activity), MEMTRACE_CARD_OK);
  return activity;
}

struct memtrace_card_ledger LedgerOf(int device) {
  struct memtrace_card_ledger ledger = {};
  ledger.size = sizeof(ledger);
  EXPECT_EQ(memtrace_card_ledger(device, &ledger), MEMTRACE_CARD_OK);
  return ledger;
}

using Counts = std::map<std::string, std::uint64_t>;

void Collect(void* counts, const char* name, std::uint64_t count) {
  (*static_cast<Counts*>(counts))[name] = count;
}

class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaSetDevice(0), cudaSuccess); }
};

TEST_F(RuntimeTest, CardsFollowTheEnvironment) {
  int count = 0;
  ASSERT_EQ(cudaGetDeviceCount(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  EXPECT_EQ(memtrace_card_count(), 2);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_EQ(properties.totalGlobalMem, 2_GiB);
  EXPECT_EQ(properties.major, 8);
  EXPECT_EQ(cudaSetDevice(2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(RuntimeTest, LedgerSumsToTheTotal) {
  void* pointer = nullptr;
  const struct memtrace_card_ledger before = LedgerOf(0);
  EXPECT_EQ(before.context_active, 1u);
  EXPECT_EQ(before.context, 500_MiB);
  ASSERT_EQ(cudaMalloc(&pointer, 100_MiB), cudaSuccess);
  const struct memtrace_card_ledger after = LedgerOf(0);
  EXPECT_EQ(after.runtime_allocated, before.runtime_allocated + 100_MiB);
  EXPECT_EQ(after.total, after.context + after.other + after.runtime_allocated +
                             after.vmm_allocated + after.free);
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(free, after.free);
  EXPECT_EQ(total, after.total);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
}

TEST_F(RuntimeTest, OlderCallersGetOnlyTheMembersTheyKnow) {
  struct memtrace_card_ledger ledger = {};
  std::memset(&ledger, 0x5a, sizeof(ledger));
  ledger.size = offsetof(struct memtrace_card_ledger, context);
  ASSERT_EQ(memtrace_card_ledger(0, &ledger), MEMTRACE_CARD_OK);
  EXPECT_EQ(ledger.total, 8_GiB);
  EXPECT_EQ(ledger.context, 0x5a5a5a5a5a5a5a5au);
  ledger.size = 0;
  EXPECT_EQ(memtrace_card_ledger(0, &ledger), MEMTRACE_CARD_INVALID_ARGUMENT);
  EXPECT_EQ(memtrace_card_ledger(2, &ledger), MEMTRACE_CARD_NO_SUCH_DEVICE);
}

TEST_F(RuntimeTest, OutOfMemoryAffectsOneCardOnly) {
  void* pointer = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, 2_GiB), cudaErrorMemoryAllocation);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&pointer, 2_GiB), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
}

TEST_F(RuntimeTest, PointersAreDeviceHostOrUnregistered) {
  void* device = nullptr;
  void* pinned = nullptr;
  int plain = 0;
  ASSERT_EQ(cudaMalloc(&device, 1000), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 1000), cudaSuccess);
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 5), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &plain), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_F(RuntimeTest, BytesAreCopiedBetweenCards) {
  const std::string text = "from one card to the other";
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, 100), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, 100), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(first, text.data(), text.size(), cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeerAsync(second, 1, first, 0, text.size(), nullptr), cudaSuccess);
  std::string read(text.size(), ' ');
  ASSERT_EQ(cudaMemcpy(read.data(), second, text.size(), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(read, text);
  EXPECT_EQ(cudaFree(first), cudaSuccess);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
}

TEST_F(RuntimeTest, RowsOfA2DCopyFollowThePitch) {
  const std::vector<char> from = {1, 2, 9, 9, 3, 4, 9, 9};
  std::vector<char> to(6, 0);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 6), cudaSuccess);
  ASSERT_EQ(cudaMemset(device, 7, 6), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DAsync(device, 3, from.data(), 4, 2, 2, cudaMemcpyHostToDevice, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy(to.data(), device, 6, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(to, (std::vector<char>{1, 2, 7, 3, 4, 7}));
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(RuntimeTest, UnsupportedFunctionsFailAndAreCountedByName) {
  const std::uint64_t before = Activity().unsupported_calls;
  cudaChannelFormatDesc format = {};
  cudaArray_t array = nullptr;
  EXPECT_EQ(cudaMallocArray(&array, &format, 4, 4, 0), cudaErrorNotSupported);
  EXPECT_EQ(Activity().unsupported_calls, before + 1);
  Counts counts;
  memtrace_card_visit_unsupported(Collect, &counts);
  EXPECT_EQ(counts["cudaMallocArray"], 1u);
}

TEST_F(RuntimeTest, LaunchesAreCheckedAndCounted) {
  static const char kFunction = 0;
  const std::uint64_t before = Activity().kernel_launches;
  EXPECT_EQ(cudaLaunchKernel(&kFunction, dim3(1), dim3(1024), nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(&kFunction, dim3(1), dim3(1025), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&kFunction, dim3(0), dim3(1), nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(Activity().kernel_launches, before + 1);
  cudaGetLastError();
}

TEST_F(RuntimeTest, ProductsAreCountedAndHostResultsRejected) {
  cublasHandle_t first = nullptr;
  cublasHandle_t second = nullptr;
  ASSERT_EQ(cublasCreate(&first), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasCreate(&second), CUBLAS_STATUS_SUCCESS);
  EXPECT_NE(first, second) << "torch keys workspaces by handle";
  const float one = 1;
  EXPECT_EQ(cublasSgemm(first, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, nullptr, 1, nullptr, 1,
                        &one, nullptr, 1),
            CUBLAS_STATUS_SUCCESS);
  float dot = 0;
  EXPECT_EQ(cublasSdot(first, 1, &one, 1, &one, 1, &dot), CUBLAS_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(cublasSetPointerMode(first, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSdot(first, 1, &one, 1, &one, 1, &dot), CUBLAS_STATUS_SUCCESS);
  Counts counts;
  memtrace_card_visit_kernels(Collect, &counts);
  EXPECT_EQ(counts["cublasSgemm_v2"], 1u);
  EXPECT_EQ(counts["cublasSdot_v2"], 1u);
  EXPECT_EQ(cublasDestroy(first), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasDestroy(second), CUBLAS_STATUS_SUCCESS);
}

TEST_F(RuntimeTest, SpecsCanBeChecked) {
  char error[200];
  EXPECT_EQ(memtrace_card_check("24GiB", error, sizeof(error)), MEMTRACE_CARD_OK);
  EXPECT_EQ(memtrace_card_check("24GB", error, sizeof(error)), MEMTRACE_CARD_INVALID_ARGUMENT);
  EXPECT_THAT(error, HasSubstr("write 24GiB"));
  EXPECT_EQ(memtrace_card_check("24GB", error, 5), MEMTRACE_CARD_INVALID_ARGUMENT);
  EXPECT_STREQ(error, "card");
  EXPECT_EQ(memtrace_card_check(nullptr, nullptr, 0), MEMTRACE_CARD_INVALID_ARGUMENT);
}

}  // namespace
