// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// CUPTI of CUDA 12, compiled with its headers and linked with libcupti.so.12: its records and its
// numbers of functions.
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "cupti_records.h"
#include "tests/interpose/simulated_card/cupti/cupti_recorder.h"

namespace memtrace::card {
namespace {

using ::testing::StrEq;

static_assert(CUDART_VERSION / 1000 == 12, "this test is for the headers of CUDA 12");
static_assert(std::is_same_v<KernelRecord, CUpti_ActivityKernel9>,
              "kineto of torch for CUDA 12 reads this form");

std::vector<std::string>& NamesOfCalls() {
  static std::vector<std::string> names;
  return names;
}

void Note(void*, CUpti_CallbackDomain domain, CUpti_CallbackId number, const void* argument) {
  const auto* data = static_cast<const CUpti_CallbackData*>(argument);
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || data->callbackSite != CUPTI_API_ENTER) return;
  const char* name = nullptr;
  EXPECT_EQ(cuptiGetCallbackName(domain, number, &name), CUPTI_SUCCESS);
  NamesOfCalls().emplace_back(name);
}

TEST(CuptiCuda12Test, VersionMatchesTheHeader) {
  std::uint32_t version = 0;
  ASSERT_EQ(cuptiGetVersion(&version), CUPTI_SUCCESS);
  EXPECT_EQ(version, static_cast<std::uint32_t>(CUPTI_API_VERSION));
}

TEST(CuptiCuda12Test, FillAndAllocationRecordsMatchTheHeader) {
  CuptiRecorder::Begin();
  for (const auto kind : {CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMORY2})
    ASSERT_EQ(cuptiActivityEnable(kind), CUPTI_SUCCESS);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 4096), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 7, 4096), cudaSuccess);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  const auto fills = CuptiRecorder::Of<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  ASSERT_EQ(fills.size(), 1u);
  EXPECT_EQ(fills.front()->value, 7u);
  EXPECT_EQ(fills.front()->bytes, 4096u);
  const auto memories = CuptiRecorder::Of<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  ASSERT_EQ(memories.size(), 2u);
  EXPECT_EQ(memories.front()->address, reinterpret_cast<std::uintptr_t>(memory));
  EXPECT_EQ(memories.front()->bytes, 4096u);
  for (const auto kind : {CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMORY2})
    ASSERT_EQ(cuptiActivityDisable(kind), CUPTI_SUCCESS);
}

TEST(CuptiCuda12Test, CallsHaveTheNamesAndNumbersOfCuda12) {
  CUpti_SubscriberHandle subscriber = nullptr;
  ASSERT_EQ(cuptiSubscribe(&subscriber, Note, nullptr), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API,
                                CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_v11030),
            CUPTI_SUCCESS);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  EXPECT_EQ(cudaStreamGetCaptureInfo_v2(nullptr, &status, nullptr, nullptr, nullptr, nullptr),
            cudaSuccess);
  EXPECT_THAT(NamesOfCalls(), ::testing::ElementsAre(StrEq("cudaStreamGetCaptureInfo_v2_v11030")));
  EXPECT_EQ(cuptiUnsubscribe(subscriber), CUPTI_SUCCESS);
}

}  // namespace
}  // namespace memtrace::card
