// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// What programs reach less often, on two cards of 8 and 2 GiB (MEMTRACE_CARD as ctest sets it):
// graphs, pools, managed memory, device variables, planes, loaded code, per-thread default streams.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>

// nvcc's code calls this for `__device__ int table[4];` (crt/host_runtime.h).
extern "C" void __cudaRegisterVar(void**, char* shadow, char*, const char*, int, std::size_t bytes,
                                  int, int);
// The form of cudaMemcpyAsync that code compiled with --default-stream per-thread calls.
extern "C" cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from, std::size_t bytes,
                                            cudaMemcpyKind kind, cudaStream_t stream);

namespace {

constexpr std::size_t operator""_MiB(unsigned long long n) { return n << 20; }

constexpr const char* kPtx = "//\n.version 9.0\n.target sm_80\n.visible .entry add()\n{ ret; }\n";

std::size_t FreeBytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

class RuntimeCoverageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }

  cudaStream_t stream_ = nullptr;
};

TEST_F(RuntimeCoverageTest, GraphCopiesAtEachLaunchAndNotDuringCapture) {
  int value = 1;
  int* on_card = nullptr;
  int back = 0;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&on_card), sizeof(int)), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(on_card, &value, sizeof(int), cudaMemcpyDefault, stream_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(&back, on_card, sizeof(int), cudaMemcpyDefault, stream_), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(back, 0);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (value = 5; value < 7; ++value) {
    ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(back, value);
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(RuntimeCoverageTest, StreamOrderedMemoryComesFromAPool) {
  const std::size_t before = FreeBytes();
  void* block = nullptr;
  ASSERT_EQ(cudaMallocAsync(&block, 32_MiB, stream_), cudaSuccess);
  EXPECT_EQ(FreeBytes(), before - 32_MiB);
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  unsigned long long used = 0;
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 32_MiB);
  ASSERT_EQ(cudaFreeAsync(block, stream_), cudaSuccess);
  EXPECT_EQ(FreeBytes(), before - 32_MiB);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(FreeBytes(), before);
}

TEST_F(RuntimeCoverageTest, ManagedMemoryIsOnTheHost) {
  const std::size_t before = FreeBytes();
  int* values = nullptr;
  ASSERT_EQ(cudaMallocManaged(reinterpret_cast<void**>(&values), 4_MiB, cudaMemAttachGlobal),
            cudaSuccess);
  values[7] = 7;
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &values[7]), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  const cudaMemLocation card = {cudaMemLocationTypeDevice, 0};
  EXPECT_EQ(cudaMemPrefetchAsync(values, 4_MiB, card, 0, stream_), cudaSuccess);
  EXPECT_EQ(FreeBytes(), before);
  EXPECT_EQ(cudaFree(values), cudaSuccess);
}

TEST_F(RuntimeCoverageTest, DeviceVariablesKeepCopiedBytes) {
  static std::array<char, 16> shadow;
  __cudaRegisterVar(nullptr, shadow.data(), nullptr, "table", 0, shadow.size(), 0, 0);
  const std::array<int, 2> written = {3, 4};
  std::array<int, 2> read = {};
  ASSERT_EQ(cudaMemcpyToSymbol(shadow.data(), written.data(), 8, 8, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(read.data(), shadow.data(), 8, 8, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(read, written);
  EXPECT_EQ(cudaMemcpyToSymbol(shadow.data(), written.data(), 8, 12, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  void* address = nullptr;
  EXPECT_EQ(cudaGetSymbolAddress(&address, &address), cudaErrorInvalidSymbol);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(read.data(), shadow.data(), 8, 8, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(read[0], 0) << "each card has its own copy";
}

TEST_F(RuntimeCoverageTest, PlanesAreCopiedRowByRow) {
  const std::string rows = "ab..cd..ef..";
  void* plane = nullptr;
  ASSERT_EQ(cudaMalloc(&plane, 6), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2D(plane, 2, rows.data(), 4, 2, 3, cudaMemcpyDefault), cudaSuccess);
  std::string back(6, ' ');
  ASSERT_EQ(cudaMemcpy(back.data(), plane, 6, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(back, "abcdef");
}

TEST_F(RuntimeCoverageTest, CardsCopyWithoutPeerAccess) {
  void* here = nullptr;
  void* there = nullptr;
  ASSERT_EQ(cudaMalloc(&here, 4), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&there, 4), cudaSuccess);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  int value = 9;
  int back = 0;
  ASSERT_EQ(cudaMemcpy(here, &value, 4, cudaMemcpyDefault), cudaSuccess);
  ASSERT_EQ(cudaMemcpyPeer(there, 1, here, 0, 4), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&back, there, 4, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(back, 9);
}

TEST_F(RuntimeCoverageTest, LoadedCodeIsLaunchedWithinItsLimits) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  ASSERT_EQ(cuModuleLoadData(&module, kPtx), CUDA_SUCCESS);
  ASSERT_EQ(cuModuleGetFunction(&function, module, "add"), CUDA_SUCCESS);
  const auto launch = [&](unsigned threads, unsigned shared) {
    return cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, shared, stream_, nullptr, nullptr);
  };
  EXPECT_EQ(launch(256, 48 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launch(1025, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(256, 64 << 10), CUDA_ERROR_INVALID_VALUE);
  const auto most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
  EXPECT_EQ(cuFuncSetAttribute(function, most, 200 << 10), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuFuncSetAttribute(function, most, 64 << 10), CUDA_SUCCESS);
  EXPECT_EQ(launch(256, 64 << 10), CUDA_SUCCESS);
  EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(launch(256, 0), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(RuntimeCoverageTest, PerThreadDefaultStreamIsTheDefaultStream) {
  int value = 2;
  int back = 0;
  void* on_card = nullptr;
  ASSERT_EQ(cudaMalloc(&on_card, 4), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync_ptsz(on_card, &value, 4, cudaMemcpyDefault, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync_ptsz(&back, on_card, 4, cudaMemcpyDefault, nullptr), cudaSuccess);
  EXPECT_EQ(back, 2);
}

}  // namespace
