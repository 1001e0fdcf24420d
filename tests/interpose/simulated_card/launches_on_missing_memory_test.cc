// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Launches of kernels that were given memory which is not there, through the driver's functions.
#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"
#include "tests/interpose/simulated_card/card_state.h"

namespace {

using ::memtrace::card::Faults;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kGranule = 2u << 20;
constexpr const char* kPtx =
    "//\n.version 9.0\n.target sm_80\n.visible .entry add(.param .u32 n, .param .u64 a)\n{ ret; "
    "}\n";

class LaunchesOnMissingMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(memtrace::card::StartCard());
    ASSERT_EQ(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleLoadData(&module_, kPtx), CUDA_SUCCESS);
    ASSERT_EQ(cuModuleGetFunction(&kernel_, module_, "add"), CUDA_SUCCESS);
    ASSERT_EQ(cuMemAddressReserve(&begin_, 2 * kGranule, 0, 0, 0), CUDA_SUCCESS);
    faults_before_ = Faults().size();
  }
  void TearDown() override {
    memtrace_card_set_owner_namer(nullptr);
    EXPECT_EQ(cuStreamDestroy(stream_), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module_), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(begin_, 2 * kGranule), CUDA_SUCCESS);
  }

  std::vector<std::string> NewFaults() const {
    std::vector<std::string> faults = Faults();
    faults.erase(faults.begin(), faults.begin() + static_cast<std::ptrdiff_t>(faults_before_));
    return faults;
  }

  void Map(CUdeviceptr at) const {
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemGenericAllocationHandle handle = 0;
    ASSERT_EQ(cuMemCreate(&handle, kGranule, &properties, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemMap(at, kGranule, 0, handle, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuMemRelease(handle), CUDA_SUCCESS);
  }
  void MapAndTakeAway() const {
    Map(begin_);
    ASSERT_EQ(cuMemUnmap(begin_, kGranule), CUDA_SUCCESS);
  }
  CUresult Launch(CUdeviceptr given) const {
    std::uint32_t number = 8192;
    std::array<void*, 2> arguments = {&number, &given};
    return cuLaunchKernel(kernel_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments.data(), nullptr);
  }

  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction kernel_ = nullptr;
  CUdeviceptr begin_ = 0;
  std::size_t faults_before_ = 0;
};

TEST_F(LaunchesOnMissingMemoryTest, KernelAndAddressAreNamed) {
  MapAndTakeAway();
  EXPECT_EQ(Launch(begin_ + 256), CUDA_SUCCESS);
  EXPECT_THAT(NewFaults(), ElementsAre(AllOf(HasSubstr("the kernel add was launched with"),
                                             HasSubstr("taken away by cuMemUnmap"))));
}

TEST_F(LaunchesOnMissingMemoryTest, OwnerIsNamedAndWhatToDo) {
  memtrace_card_set_owner_namer([](uint64_t, char* name, uint64_t room) {
    return std::string("policy").copy(name, room) > 0 ? 1 : 0;
  });
  MapAndTakeAway();
  EXPECT_EQ(Launch(begin_), CUDA_SUCCESS);
  EXPECT_THAT(NewFaults(), ElementsAre(HasSubstr("call memtrace.wake('policy') first")));
}

TEST_F(LaunchesOnMissingMemoryTest, MappedAgainItIsNoFault) {
  MapAndTakeAway();
  Map(begin_);
  EXPECT_EQ(Launch(begin_), CUDA_SUCCESS);
  EXPECT_EQ(Launch(begin_ + kGranule), CUDA_SUCCESS) << "the end of the mapped memory";
  EXPECT_THAT(NewFaults(), IsEmpty());
  ASSERT_EQ(cuMemUnmap(begin_, kGranule), CUDA_SUCCESS);
}

TEST_F(LaunchesOnMissingMemoryTest, ArgumentsInABufferAreRead) {
  MapAndTakeAway();
  struct {
    std::uint32_t number = 0;
    CUdeviceptr given = 0;
  } buffer;
  buffer.given = begin_;
  std::size_t bytes = sizeof(buffer);
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  EXPECT_EQ(cuLaunchKernel(kernel_, 1, 1, 1, 1, 1, 1, 0, stream_, nullptr, extra), CUDA_SUCCESS);
  EXPECT_THAT(NewFaults(), ElementsAre(HasSubstr("the kernel add was launched with")));
}

TEST_F(LaunchesOnMissingMemoryTest, ReplayOfACapturedKernelIsAFaultEachTime) {
  Map(begin_);
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuStreamBeginCapture(stream_, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
  EXPECT_EQ(Launch(begin_), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamEndCapture(stream_, &graph), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, stream_), CUDA_SUCCESS);
  EXPECT_THAT(NewFaults(), IsEmpty());
  ASSERT_EQ(cuMemUnmap(begin_, kGranule), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, stream_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, stream_), CUDA_SUCCESS);
  EXPECT_THAT(NewFaults(), ElementsAre(HasSubstr("the kernel add in a graph was launched"),
                                       HasSubstr("the kernel add in a graph was launched")));
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

TEST_F(LaunchesOnMissingMemoryTest, NodeThatWasAddedByHandIsAFault) {
  MapAndTakeAway();
  std::uint32_t number = 1;
  std::array<void*, 2> arguments = {&number, &begin_};
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.func = kernel_;
  kernel.kernelParams = arguments.data();
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddKernelNode(&node, graph, nullptr, 0, &kernel), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphInstantiate(&exec, graph, 0), CUDA_SUCCESS);
  EXPECT_THAT(NewFaults(), IsEmpty());
  EXPECT_EQ(cuGraphLaunch(exec, stream_), CUDA_SUCCESS);
  EXPECT_THAT(NewFaults(), ElementsAre(HasSubstr("the kernel add in a graph was launched")));
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphDestroy(graph), CUDA_SUCCESS);
}

}  // namespace
