// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The callback API, and what CUPTI says without an activity (MEMTRACE_CARD as ctest sets it).
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> called;

void Note(void* prefix, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  std::string note = *static_cast<std::string*>(prefix);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    const bool is_exit = call->callbackSite == CUPTI_API_EXIT;
    if (!is_exit) *call->correlationData = 42;
    note += std::string(is_exit ? "exit " : "enter ") + call->functionName;
    if (is_exit) {
      note += " = " + std::to_string(*static_cast<int*>(call->functionReturnValue));
      EXPECT_EQ(*call->correlationData, 42u);
    }
  } else {
    note += "domain " + std::to_string(domain) + " id " + std::to_string(id);
  }
  called.push_back(note);
  // A client may call CUDA; such calls are not reported to it.
  std::size_t free = 0;
  std::size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
}

class CuptiCallbacksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    called.clear();
    ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
    ASSERT_EQ(cuptiSubscribe(&subscriber_, Note, &prefix_), CUPTI_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(cuptiFinalize(), CUPTI_SUCCESS); }

  std::string prefix_ = "> ";
  CUpti_SubscriberHandle subscriber_ = nullptr;
};

TEST_F(CuptiCallbacksTest, CallIsReportedAtEntryAndExit) {
  ASSERT_EQ(cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API,
                                CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020),
            CUPTI_SUCCESS);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, std::size_t{1} << 40), cudaErrorMemoryAllocation);
  ASSERT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_THAT(called, ElementsAre("> enter cudaMalloc_v3020", "> exit cudaMalloc_v3020 = 2"));
}

TEST_F(CuptiCallbacksTest, EnabledDomainCoversAllItsFunctions) {
  ASSERT_EQ(cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API), CUPTI_SUCCESS);
  CUdeviceptr device = 0;
  ASSERT_EQ(cuMemAlloc(&device, 512), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFree(device), CUDA_SUCCESS);
  EXPECT_THAT(called, ElementsAre("> enter cuMemAlloc_v2", "> exit cuMemAlloc_v2 = 0",
                                  "> enter cuMemFree_v2", "> exit cuMemFree_v2 = 0"));
}

TEST_F(CuptiCallbacksTest, StreamsAndWaitsAreReported) {
  ASSERT_EQ(cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_SYNCHRONIZE), CUPTI_SUCCESS);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_THAT(called, ElementsAre("> domain 3 id 3", "> domain 4 id 1", "> domain 4 id 2",
                                  "> domain 3 id 4"));
}

TEST_F(CuptiCallbacksTest, ContextIsReportedAfterCreationAndBeforeDestruction) {
  ASSERT_EQ(cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API), CUPTI_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_THAT(called, ElementsAre("> enter cuCtxCreate_v4", "> domain 3 id 1",
                                  "> exit cuCtxCreate_v4 = 0", "> enter cuCtxDestroy_v2",
                                  "> domain 3 id 2", "> exit cuCtxDestroy_v2 = 0",
                                  "> enter cuCtxDestroy_v2", "> exit cuCtxDestroy_v2 = 201"));
}

TEST_F(CuptiCallbacksTest, PrimaryContextIsReportedAtFirstAndLastReference) {
  ASSERT_EQ(cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE), CUPTI_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  EXPECT_THAT(called, ElementsAre("> domain 3 id 1"));
  ASSERT_EQ(cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  EXPECT_THAT(called, ElementsAre("> domain 3 id 1", "> domain 3 id 2"));
}

TEST_F(CuptiCallbacksTest, OnlyEnabledCallbacksAreCalled) {
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cuptiEnableAllDomains(1, subscriber_), CUPTI_SUCCESS);
  std::uint32_t enabled = 0;
  ASSERT_EQ(cuptiGetCallbackState(&enabled, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API,
                                  CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020),
            CUPTI_SUCCESS);
  EXPECT_EQ(enabled, 1u);
  ASSERT_EQ(cuptiUnsubscribe(subscriber_), CUPTI_SUCCESS);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_THAT(called, IsEmpty());
}

TEST_F(CuptiCallbacksTest, OnlyOneSubscriberIsAllowed) {
  CUpti_SubscriberHandle second = nullptr;
  EXPECT_EQ(cuptiSubscribe(&second, Note, &prefix_),
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  EXPECT_EQ(cuptiEnableDomain(1, second, CUPTI_CB_DOMAIN_DRIVER_API),
            CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_F(CuptiCallbacksTest, UnsupportedCallbacksAreRejected) {
  EXPECT_EQ(cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RESOURCE,
                                CUPTI_CBID_RESOURCE_MODULE_LOADED),
            CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(cuptiEnableDomain(1, subscriber_, CUPTI_CB_DOMAIN_NVTX), CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_F(CuptiCallbacksTest, ContextsAndStreamsHaveNumbers) {
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  std::uint32_t number = 99;
  ASSERT_EQ(cuptiGetDeviceId(context, &number), CUPTI_SUCCESS);
  EXPECT_EQ(number, 0u);
  ASSERT_EQ(cuptiGetContextId(context, &number), CUPTI_SUCCESS);
  EXPECT_EQ(number, 1u);
  cudaStream_t stream = nullptr;
  unsigned long long id = 0;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamGetId(stream, &id), cudaSuccess);
  ASSERT_EQ(cuptiGetStreamIdEx(context, stream, 0, &number), CUPTI_SUCCESS);
  EXPECT_EQ(number, id);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cuptiGetContextId(nullptr, &number), CUPTI_ERROR_INVALID_CONTEXT);
  CUcontext second = nullptr;
  ASSERT_EQ(cuCtxCreate(&second, nullptr, 0, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuptiGetDeviceId(second, &number), CUPTI_SUCCESS);
  EXPECT_EQ(number, 1u);
  ASSERT_EQ(cuptiGetContextId(second, &number), CUPTI_SUCCESS);
  ASSERT_EQ(cuCtxGetId(second, &id), CUDA_SUCCESS);
  EXPECT_EQ(number, id);
  EXPECT_GT(number, 2u);
  ASSERT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
  EXPECT_EQ(cuptiGetContextId(second, &number), CUPTI_ERROR_INVALID_CONTEXT);
}

}  // namespace
}  // namespace memtrace::card
