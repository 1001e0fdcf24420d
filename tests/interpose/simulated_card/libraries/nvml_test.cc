// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Through NVML's C interface; no wheel carries its header.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

// NOLINTBEGIN(readability-identifier-naming): NVML's names.
extern "C" {
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
struct Process {
  unsigned int pid;
  unsigned long long bytes;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
int nvmlInit_v2();
int nvmlDeviceGetCount_v2(unsigned int* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** handle);
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** handle);
int nvmlDeviceGetHandleByUUID(const char* uuid, void** handle);
int nvmlDeviceGetIndex(void* handle, unsigned int* index);
int nvmlDeviceGetName(void* handle, char* name, unsigned int length);
int nvmlDeviceGetUUID(void* handle, char* uuid, unsigned int length);
int nvmlDeviceGetMemoryInfo(void* handle, Memory* memory);
int nvmlDeviceGetComputeRunningProcesses_v3(void* handle, unsigned int* count, Process* infos);
}
// NOLINTEND(readability-identifier-naming)

namespace memtrace::card {
namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kInsufficientSize = 7;

void* Handle(unsigned int index) {
  void* handle = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(index, &handle), kSuccess);
  return handle;
}

// With CUDA_VISIBLE_DEVICES=1, CUDA's only card is NVML's second.
TEST(NvmlTest, CountsCardsHiddenFromCuda) {
  ASSERT_EQ(nvmlInit_v2(), kSuccess);
  unsigned int count = 0;
  ASSERT_EQ(nvmlDeviceGetCount_v2(&count), kSuccess);
  EXPECT_EQ(count, 2u);
  int shown = 0;
  ASSERT_EQ(cudaGetDeviceCount(&shown), cudaSuccess);
  EXPECT_EQ(shown, 1);
  void* none = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(2, &none), kInvalidArgument);
}

TEST(NvmlTest, BusIdAndUuidMatchThoseOfCuda) {
  std::array<char, 32> bus;
  ASSERT_EQ(cudaDeviceGetPCIBusId(bus.data(), bus.size(), 0), cudaSuccess);
  void* by_bus = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByPciBusId_v2(bus.data(), &by_bus), kSuccess);
  EXPECT_EQ(by_bus, Handle(1));

  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  std::array<char, 96> uuid;
  ASSERT_EQ(nvmlDeviceGetUUID(Handle(1), uuid.data(), uuid.size()), kSuccess);
  // The cards differ in the last of the sixteen bytes.
  const std::string text = uuid.data();
  EXPECT_EQ(std::stoi(text.substr(text.size() - 2), nullptr, 16), properties.uuid.bytes[15]);
  void* by_uuid = nullptr;
  ASSERT_EQ(nvmlDeviceGetHandleByUUID(uuid.data(), &by_uuid), kSuccess);
  EXPECT_EQ(by_uuid, Handle(1));
  unsigned int index = 0;
  ASSERT_EQ(nvmlDeviceGetIndex(by_uuid, &index), kSuccess);
  EXPECT_EQ(index, 1u);
}

TEST(NvmlTest, TooSmallATextBufferIsRejected) {
  std::array<char, 96> name;
  ASSERT_EQ(nvmlDeviceGetName(Handle(0), name.data(), name.size()), kSuccess);
  EXPECT_STREQ(name.data(), "memtrace simulated card");
  EXPECT_EQ(nvmlDeviceGetName(Handle(0), name.data(), 5), kInsufficientSize);
  EXPECT_EQ(nvmlDeviceGetName(Handle(0), nullptr, 5), kInvalidArgument);
}

TEST(NvmlTest, ReportsUsedMemoryAndItsProcesses) {
  Memory memory = {};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(Handle(0), &memory), kSuccess);
  EXPECT_EQ(memory.total, 8_GiB);
  EXPECT_EQ(memory.used, 1_GiB);  // other=1GiB

  void* block = nullptr;
  ASSERT_EQ(cudaMalloc(&block, 10_MiB), cudaSuccess);
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(Handle(1), &memory), kSuccess);
  EXPECT_EQ(memory.used, 110_MiB);  // context=100MiB
  EXPECT_EQ(memory.free, memory.total - memory.used);
  unsigned int count = 1;
  Process process = {};
  ASSERT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(Handle(1), &count, &process), kSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(process.bytes, 110_MiB);
  count = 0;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(Handle(1), &count, nullptr), kInsufficientSize);
  EXPECT_EQ(cudaFree(block), cudaSuccess);
}

}  // namespace
}  // namespace memtrace::card
