// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// What the runtime of CUDA 12 has otherwise than that of CUDA 13, compiled with the headers of CUDA
// 12 and linked with libcudart.so.12, on two cards of 8 and 2 GiB.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>

namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

static_assert(CUDART_VERSION / 1000 == 12, "this test is for the headers of CUDA 12");

constexpr std::size_t operator""_MiB(unsigned long long n) { return n << 20; }
constexpr std::size_t operator""_GiB(unsigned long long n) { return n << 30; }

constexpr char kUntouched = 0x5a;

// A struct that a function writes, followed by bytes that it must not change.
template <typename Struct>
struct Guarded {
  Guarded() { std::memset(this, kUntouched, sizeof(*this)); }
  Struct value;
  std::array<char, 512> behind;
};

int IntAt(const void* begin, std::size_t offset) {
  int value = 0;
  std::memcpy(&value, static_cast<const char*>(begin) + offset, sizeof(value));
  return value;
}

class RuntimeCuda12Test : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
  }
  void TearDown() override { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }

  cudaStream_t stream_ = nullptr;
};

TEST_F(RuntimeCuda12Test, PropertiesHaveTheOffsetsOfTheHeader) {
  Guarded<cudaDeviceProp> properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties.value, 1), cudaSuccess);
  EXPECT_EQ(properties.value.totalGlobalMem, 2_GiB);
  // In CUDA 13 the number of multiprocessors is 4 bytes before this offset.
  EXPECT_EQ(IntAt(&properties.value, 360), 8);    // major
  EXPECT_EQ(IntAt(&properties.value, 388), 108);  // multiProcessorCount
  EXPECT_EQ(properties.value.computeMode, cudaComputeModeDefault);
  EXPECT_EQ(properties.value.pciBusID, 2);
  EXPECT_EQ(properties.value.cooperativeLaunch, 1);
  EXPECT_GT(properties.value.reservedSharedMemPerBlock, 0u);
  EXPECT_THAT(properties.behind, Each(kUntouched));
}

TEST_F(RuntimeCuda12Test, PointerAttributesHaveTheSizeOfTheHeader) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 2_MiB), cudaSuccess);
  Guarded<cudaPointerAttributes> attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes.value, memory), cudaSuccess);
  EXPECT_EQ(attributes.value.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.value.devicePointer, memory);
  EXPECT_THAT(attributes.behind, Each(kUntouched));
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(RuntimeCuda12Test, VersionMatchesTheHeader) {
  int version = 0;
  ASSERT_EQ(cudaRuntimeGetVersion(&version), cudaSuccess);
  EXPECT_EQ(version, CUDART_VERSION);
}

TEST_F(RuntimeCuda12Test, CaptureInfoWorksWithAndWithoutEdges) {
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 2_MiB, stream_), cudaSuccess);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* nodes = nullptr;
  std::size_t count = 0;
  ASSERT_EQ(cudaStreamGetCaptureInfo_v2(stream_, &status, &id, &graph, &nodes, &count),
            cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_NE(id, 0u);
  EXPECT_NE(graph, nullptr);
  EXPECT_EQ(count, 1u);
  unsigned long long same_id = 0;
  const cudaGraphEdgeData* edges = nullptr;
  ASSERT_EQ(
      cudaStreamGetCaptureInfo_v3(stream_, &status, &same_id, nullptr, &nodes, &edges, &count),
      cudaSuccess);
  EXPECT_EQ(same_id, id);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(
      cudaStreamUpdateCaptureDependencies(stream_, nullptr, 0, cudaStreamSetCaptureDependencies),
      cudaSuccess);
  ASSERT_EQ(cudaStreamGetCaptureInfo_v2(stream_, &status, nullptr, nullptr, nullptr, &count),
            cudaSuccess);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(RuntimeCuda12Test, EdgesOfAGraphAreCountedWithoutTheirData) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t from = nullptr;
  cudaGraphNode_t to = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEmptyNode(&from, graph, nullptr, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddEmptyNode(&to, graph, nullptr, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphAddDependencies(graph, &from, &to, 1), cudaSuccess);
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cudaGraphGetEdges_v2(graph, nullptr, nullptr, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 1u);
  cudaGraphNode_t found = nullptr;
  EXPECT_EQ(cudaGraphNodeGetDependencies(to, &found, &count), cudaSuccess);
  EXPECT_EQ(found, from);
  EXPECT_EQ(cudaGraphNodeGetDependentNodes(from, &found, &count), cudaSuccess);
  EXPECT_EQ(found, to);
  EXPECT_EQ(cudaGraphRemoveDependencies(graph, &from, &to, 1), cudaSuccess);
  EXPECT_EQ(cudaGraphGetEdges(graph, nullptr, nullptr, &count), cudaSuccess);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_F(RuntimeCuda12Test, ManagedMemoryAcceptsAdviceByDeviceAndByLocation) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, 4_MiB), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(memory, 4_MiB, cudaMemAdviseSetPreferredLocation, 0), cudaSuccess);
  EXPECT_EQ(cudaMemAdvise(memory, 4_MiB, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId),
            cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(memory, 4_MiB, 0, stream_), cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync(memory, 4_MiB, cudaCpuDeviceId, stream_), cudaSuccess);
  cudaMemLocation location = {};
  location.type = cudaMemLocationTypeDevice;
  EXPECT_EQ(cudaMemAdvise_v2(memory, 4_MiB, cudaMemAdviseSetPreferredLocation, location),
            cudaSuccess);
  EXPECT_EQ(cudaMemPrefetchAsync_v2(memory, 4_MiB, location, 0, stream_), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(RuntimeCuda12Test, BothElapsedTimeFunctionsAgree) {
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(start, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(end, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(end), cudaSuccess);
  float plain = 0;
  float newest = -1;
  EXPECT_EQ(cudaEventElapsedTime(&plain, start, end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime_v2(&newest, start, end), cudaSuccess);
  EXPECT_EQ(plain, newest);
  EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(end), cudaSuccess);
}

TEST_F(RuntimeCuda12Test, EntryPointMatchesTheCallersVersion) {
  const auto found = [](const char* name, int version) {
    void* address = nullptr;
    EXPECT_EQ(cuGetProcAddress(name, &address, version, 0, nullptr), CUDA_SUCCESS);
    return address;
  };
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(driver, nullptr);
  EXPECT_EQ(found("cuStreamGetCaptureInfo", 12000), dlsym(driver, "cuStreamGetCaptureInfo_v2"));
  EXPECT_EQ(found("cuStreamGetCaptureInfo", 12030), dlsym(driver, "cuStreamGetCaptureInfo_v3"));
  EXPECT_EQ(found("cuMemAdvise", 12000), dlsym(driver, "cuMemAdvise"));
  EXPECT_EQ(found("cuMemAdvise", 13000), dlsym(driver, "cuMemAdvise_v2"));
  EXPECT_EQ(found("cuMemAlloc", 12000), dlsym(driver, "cuMemAlloc_v2"));
  void* by_runtime = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  ASSERT_EQ(cudaGetDriverEntryPoint("cuMemAdvise", &by_runtime, cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_EQ(by_runtime, dlsym(driver, "cuMemAdvise_v2"));
  dlclose(driver);
}

TEST_F(RuntimeCuda12Test, DriverFunctionsKeepTheirOlderSignatures) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocManaged(&memory, 4_MiB), cudaSuccess);
  const auto begin = reinterpret_cast<CUdeviceptr>(memory);
  EXPECT_EQ(cuMemAdvise(begin, 4_MiB, CU_MEM_ADVISE_SET_READ_MOSTLY, CU_DEVICE_CPU), CUDA_SUCCESS);
  EXPECT_EQ(cuMemPrefetchAsync(begin, 4_MiB, 0, stream_), CUDA_SUCCESS);
  CUgraph graph = nullptr;
  CUgraphNode from = nullptr;
  CUgraphNode to = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&from, graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&to, graph, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphAddDependencies(graph, &from, &to, 1), CUDA_SUCCESS);
  std::size_t count = 0;
  EXPECT_EQ(cuGraphGetEdges(graph, nullptr, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(RuntimeCuda12Test, NoLibraryOfCuda13IsLoaded) {
  std::ifstream maps("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("/libcudart.so.12"));
  EXPECT_THAT(text, HasSubstr("/libnccl.so.2"));
  EXPECT_THAT(text, HasSubstr("/libcudnn.so.9"));
  EXPECT_THAT(text, HasSubstr("/libcusparse.so.12"));
  EXPECT_THAT(text, Not(HasSubstr("/libcudart.so.13")));
  EXPECT_THAT(text, Not(HasSubstr("/libcublas.so.13")));
}

}  // namespace
