// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Memory that belongs to graphs, through the runtime's interface. Rules: cuda.h,
// cuGraphAddMemAllocNode; the programming guide, "Graph Memory Nodes".
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

class GraphMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    before_ = FreeBytes();
  }
  void TearDown() override {
    for (cudaGraphExec_t exec : execs_) cudaGraphExecDestroy(exec);
    for (cudaGraph_t graph : graphs_) cudaGraphDestroy(graph);
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
    EXPECT_EQ(FreeBytes(), before_);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }

  static std::size_t FreeBytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
  }
  std::size_t Charged() const { return before_ - FreeBytes(); }

  cudaGraph_t Captured(const std::function<void()>& body) {
    EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    body();
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
    graphs_.push_back(graph);
    return graph;
  }

  cudaGraphExec_t Executable(cudaGraph_t graph, unsigned flags = 0) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, flags), cudaSuccess);
    execs_.push_back(exec);
    return exec;
  }

  char* Allocate(std::size_t bytes) {
    void* block = nullptr;
    EXPECT_EQ(cudaMallocAsync(&block, bytes, stream_), cudaSuccess);
    return static_cast<char*>(block);
  }
  void Free(void* block) { EXPECT_EQ(cudaFreeAsync(block, stream_), cudaSuccess); }
  cudaError_t Launch(cudaGraphExec_t exec) { return cudaGraphLaunch(exec, stream_); }

  static std::size_t Figure(cudaGraphMemAttributeType attribute) {
    unsigned long long bytes = 0;
    EXPECT_EQ(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes), cudaSuccess);
    return bytes;
  }

  cudaStream_t stream_ = nullptr;
  std::size_t before_ = 0;
  std::vector<cudaGraph_t> graphs_;
  std::vector<cudaGraphExec_t> execs_;
};

TEST_F(GraphMemoryTest, LaunchChargesTheCardUntilMemoryIsTrimmed) {
  cudaGraphExec_t exec = Executable(Captured([&] {
    char* first = Allocate(8_MiB);
    Free(first);
    char* second = Allocate(6_MiB);
    Free(second);
  }));
  EXPECT_EQ(Charged(), 0u);
  ASSERT_EQ(Launch(exec), cudaSuccess);
  ASSERT_EQ(Launch(exec), cudaSuccess);
  EXPECT_EQ(Charged(), 8_MiB);
  EXPECT_EQ(Figure(cudaGraphMemAttrUsedMemCurrent), 0u);
  EXPECT_EQ(Figure(cudaGraphMemAttrReservedMemCurrent), 8_MiB);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  ASSERT_EQ(cudaDeviceGraphMemTrim(0), cudaSuccess);
  EXPECT_EQ(Charged(), 0u);
}

TEST_F(GraphMemoryTest, ContentsPassThroughABlockAtEachLaunch) {
  int value = 3;
  int back = 0;
  cudaGraphExec_t exec = Executable(Captured([&] {
    char* block = Allocate(sizeof(value));
    EXPECT_EQ(cudaMemcpyAsync(block, &value, sizeof(value), cudaMemcpyDefault, stream_),
              cudaSuccess);
    EXPECT_EQ(cudaMemcpyAsync(&back, block, sizeof(value), cudaMemcpyDefault, stream_),
              cudaSuccess);
    Free(block);
  }));
  for (value = 3; value < 5; ++value) {
    ASSERT_EQ(Launch(exec), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(back, value);
  }
}

TEST_F(GraphMemoryTest, MemoryLeftByAGraphMustBeFreedBeforeTheNextLaunch) {
  char* block = nullptr;
  cudaGraphExec_t exec = Executable(Captured([&] { block = Allocate(5_MiB); }));
  ASSERT_EQ(Launch(exec), cudaSuccess);
  EXPECT_EQ(Launch(exec), cudaErrorInvalidValue);
  EXPECT_EQ(Figure(cudaGraphMemAttrUsedMemCurrent), 5_MiB);
  EXPECT_EQ(cudaMemset(block, 1, 5_MiB), cudaSuccess);
  Free(block);
  EXPECT_EQ(cudaFreeAsync(block, stream_), cudaErrorInvalidValue);
  EXPECT_NE(cudaMemset(block, 1, 5_MiB), cudaSuccess);
  ASSERT_EQ(Launch(exec), cudaSuccess);
  EXPECT_EQ(cudaFree(block), cudaSuccess);
}

TEST_F(GraphMemoryTest, AutoFreeLaunchFreesMemoryOfTheLastLaunch) {
  char* block = nullptr;
  cudaGraphExec_t exec = Executable(Captured([&] { block = Allocate(5_MiB); }),
                                    cudaGraphInstantiateFlagAutoFreeOnLaunch);
  ASSERT_EQ(Launch(exec), cudaSuccess);
  ASSERT_EQ(Launch(exec), cudaSuccess);
  EXPECT_EQ(Figure(cudaGraphMemAttrUsedMemCurrent), 5_MiB);
  EXPECT_EQ(Charged(), 6_MiB);
  Free(block);
}

TEST_F(GraphMemoryTest, BlockMayBeFreedByAnotherGraph) {
  char* block = nullptr;
  cudaGraphExec_t making = Executable(Captured([&] { block = Allocate(4_MiB); }));
  cudaGraphExec_t freeing = Executable(Captured([&] { Free(block); }));
  EXPECT_EQ(Launch(freeing), cudaErrorInvalidValue);
  for (int launch = 0; launch < 2; ++launch) {
    ASSERT_EQ(Launch(making), cudaSuccess);
    ASSERT_EQ(Launch(freeing), cudaSuccess);
  }
  EXPECT_EQ(Figure(cudaGraphMemAttrUsedMemCurrent), 0u);
}

TEST_F(GraphMemoryTest, BlockOutlivesItsGraph) {
  char* block = nullptr;
  {
    cudaGraph_t graph = Captured([&] { block = Allocate(4_MiB); });
    cudaGraphExec_t exec = Executable(graph);
    ASSERT_EQ(Launch(exec), cudaSuccess);
    ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    execs_.clear();
    graphs_.clear();
  }
  EXPECT_EQ(cudaMemset(block, 1, 4_MiB), cudaSuccess);
  Free(block);
}

TEST_F(GraphMemoryTest, LaunchThatDoesNotFitChangesNothing) {
  cudaGraphExec_t exec = Executable(Captured([&] {
    char* small = Allocate(1_MiB);
    char* large = Allocate(FreeBytes());
    Free(large);
    Free(small);
  }));
  EXPECT_EQ(Launch(exec), cudaErrorMemoryAllocation);
  EXPECT_EQ(Charged(), 0u);
  EXPECT_EQ(Figure(cudaGraphMemAttrUsedMemCurrent), 0u);
}

TEST_F(GraphMemoryTest, NodesAddedByHandFollowTheSameRules) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  graphs_.push_back(graph);
  cudaMemAllocNodeParams wanted = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location = {cudaMemLocationTypeDevice, 0};
  wanted.bytesize = 3_MiB;
  cudaGraphNode_t made = nullptr;
  ASSERT_EQ(cudaGraphAddMemAllocNode(&made, graph, nullptr, 0, &wanted), cudaSuccess);
  cudaGraphNode_t freed = nullptr;
  EXPECT_EQ(cudaGraphAddMemFreeNode(&freed, graph, &made, 1, &freed), cudaErrorInvalidValue);
  ASSERT_EQ(cudaGraphAddMemFreeNode(&freed, graph, &made, 1, wanted.dptr), cudaSuccess);
  cudaGraphNode_t again = nullptr;
  EXPECT_EQ(cudaGraphAddMemFreeNode(&again, graph, &made, 1, wanted.dptr), cudaErrorInvalidValue);

  cudaMemAllocNodeParams told = {};
  ASSERT_EQ(cudaGraphMemAllocNodeGetParams(made, &told), cudaSuccess);
  EXPECT_EQ(told.bytesize, 3_MiB);
  EXPECT_EQ(told.dptr, wanted.dptr);
  void* told_free = nullptr;
  ASSERT_EQ(cudaGraphMemFreeNodeGetParams(freed, static_cast<void*>(&told_free)), cudaSuccess);
  EXPECT_EQ(told_free, wanted.dptr);
  EXPECT_EQ(cudaGraphMemFreeNodeGetParams(made, static_cast<void*>(&told_free)),
            cudaErrorInvalidValue);

  cudaGraphExec_t exec = Executable(graph);
  ASSERT_EQ(Launch(exec), cudaSuccess);
  EXPECT_EQ(Charged(), 4_MiB);
  EXPECT_EQ(cudaFree(wanted.dptr), cudaErrorInvalidValue);
}

TEST_F(GraphMemoryTest, GraphWithMemoryCannotBeEditedClonedOrInstantiatedTwice) {
  char* block = nullptr;
  cudaGraph_t graph = Captured([&] {
    block = Allocate(1_MiB);
    Free(block);
  });
  std::size_t count = 2;
  cudaGraphNode_t nodes[2] = {};
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes, &count), cudaSuccess);
  EXPECT_NE(cudaGraphDestroyNode(nodes[1]), cudaSuccess);
  EXPECT_NE(cudaGraphRemoveDependencies(graph, &nodes[0], &nodes[1], nullptr, 1), cudaSuccess);
  cudaGraph_t copy = nullptr;
  EXPECT_NE(cudaGraphClone(&copy, graph), cudaSuccess);
  cudaGraph_t parent = nullptr;
  ASSERT_EQ(cudaGraphCreate(&parent, 0), cudaSuccess);
  graphs_.push_back(parent);
  cudaGraphNode_t child = nullptr;
  EXPECT_NE(cudaGraphAddChildGraphNode(&child, parent, nullptr, 0, graph), cudaSuccess);

  cudaGraphExec_t exec = Executable(graph);
  cudaGraphExec_t second = nullptr;
  EXPECT_NE(cudaGraphInstantiate(&second, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  execs_.clear();
  Executable(graph);
}

}  // namespace
}  // namespace memtrace::card
