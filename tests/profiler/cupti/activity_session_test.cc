// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// A session with the CUPTI that this process has loaded: that of the simulated card, with two cards
// of 8 GiB (ctest sets MEMTRACE_CARD).
#include "profiler/cupti/activity_session.h"

#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace::cupti {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

constexpr char kKernel = 0;  // any address can be the host function of a kernel

struct Told {
  CardActivity activity;
  std::string name;
};

// Returns CLOCK_MONOTONIC.
uint64_t MonotonicNs() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

class ActivitySessionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { memtrace_card_register_kernel(&kKernel, "_Z4geluPf"); }
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    auto library = CuptiLibrary::Find();
    ASSERT_TRUE(library.ok()) << library.status();
    session_ = &ActivitySession::Make(*library, [this](std::span<const CardActivity> activities) {
      for (const CardActivity& activity : activities)
        told_.push_back({activity, std::string(activity.name)});
    });
  }
  void TearDown() override { session_->End(); }

  static void Launch(cudaStream_t stream = nullptr) {
    ASSERT_EQ(cudaLaunchKernel(&kKernel, dim3(7), dim3(128), nullptr, 0, stream), cudaSuccess);
  }
  // Returns the names of the reported kernels, each with its operation.
  std::vector<std::string> Kernels() const {
    std::vector<std::string> kernels;
    for (const Told& told : told_) {
      if (told.activity.kind != ActivityKind::kKernel) continue;
      kernels.push_back(told.name + " " + std::to_string(told.activity.operation));
    }
    return kernels;
  }
  std::vector<CardActivity> Of(ActivityKind kind) const {
    std::vector<CardActivity> found;
    for (const Told& told : told_) {
      if (told.activity.kind == kind) found.push_back(told.activity);
    }
    return found;
  }

  ActivitySession* session_ = nullptr;
  std::vector<Told> told_;
};

TEST_F(ActivitySessionTest, KernelIsTiedToTheOperationOfItsThread) {
  ASSERT_TRUE(session_->Begin().ok());
  Launch();
  session_->SetOperation(41);
  Launch();
  std::thread([this] {
    session_->SetOperation(77);
    Launch();
    session_->SetOperation(0);
  }).join();
  session_->SetOperation(42);
  Launch();
  session_->SetOperation(0);
  Launch();
  session_->End();
  EXPECT_THAT(Kernels(), ElementsAre("_Z4geluPf 0", "_Z4geluPf 41", "_Z4geluPf 77", "_Z4geluPf 42",
                                     "_Z4geluPf 0"));
  EXPECT_EQ(session_->dropped(), 0U);
}

TEST_F(ActivitySessionTest, CopiesAndFillsHaveBytesAndMemoryHasItsAddress) {
  ASSERT_TRUE(session_->Begin().ok());
  void* memory = nullptr;
  std::vector<char> host(5000);
  ASSERT_EQ(cudaMalloc(&memory, 8 << 20), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(memory, host.data(), 5000, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemset(memory, 0, 3000), cudaSuccess);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  session_->End();
  EXPECT_THAT(Of(ActivityKind::kCopy), ElementsAre(Field(&CardActivity::bytes, 5000U)));
  EXPECT_THAT(Of(ActivityKind::kFill), ElementsAre(Field(&CardActivity::bytes, 3000U)));
  const auto address = reinterpret_cast<uint64_t>(memory);
  EXPECT_THAT(Of(ActivityKind::kMemoryGiven),
              ElementsAre(AllOf(Field(&CardActivity::bytes, 8U << 20),
                                Field(&CardActivity::address, address))));
  EXPECT_THAT(Of(ActivityKind::kMemoryTakenBack),
              ElementsAre(Field(&CardActivity::address, address)));
}

TEST_F(ActivitySessionTest, TimesAreOnTheMonotonicClock) {
  constexpr uint64_t kSlack = 5'000'000;  // an interruption between the two readings
  const uint64_t before = MonotonicNs();
  ASSERT_TRUE(session_->Begin().ok());
  Launch();
  session_->End();
  const uint64_t after = MonotonicNs();
  const std::vector<CardActivity> kernels = Of(ActivityKind::kKernel);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_GE(kernels[0].start_ns + kSlack, before);
  EXPECT_LE(kernels[0].start_ns + kernels[0].duration_ns, after + kSlack);
}

TEST_F(ActivitySessionTest, CardsAndStreamsAreDistinguished) {
  ASSERT_TRUE(session_->Begin().ok());
  Launch();
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  Launch(stream);
  session_->End();
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  const std::vector<CardActivity> kernels = Of(ActivityKind::kKernel);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].device, 0U);
  EXPECT_EQ(kernels[1].device, 1U);
  EXPECT_NE(kernels[0].stream, kernels[1].stream);
}

TEST_F(ActivitySessionTest, ManyBuffersArriveCompleteAndInOrder) {
  ASSERT_TRUE(session_->Begin().ok());
  for (uint64_t i = 1; i <= 20'000; ++i) {
    session_->SetOperation(i);
    Launch();
  }
  session_->SetOperation(0);
  session_->End();
  const std::vector<CardActivity> kernels = Of(ActivityKind::kKernel);
  ASSERT_EQ(kernels.size(), 20'000U);
  for (uint64_t i = 0; i < kernels.size(); ++i) ASSERT_EQ(kernels[i].operation, i + 1);
}

TEST_F(ActivitySessionTest, EndedSessionRecordsNothingAndCanBeginAgain) {
  ASSERT_TRUE(session_->Begin().ok());
  session_->End();
  Launch();
  EXPECT_THAT(Kernels(), IsEmpty());
  ASSERT_TRUE(session_->Begin().ok());
  Launch();
  session_->Flush();
  EXPECT_THAT(Kernels(), ElementsAre("_Z4geluPf 0"));
}

TEST_F(ActivitySessionTest, SecondSessionIsRejectedAndTheFirstContinues) {
  ASSERT_TRUE(session_->Begin().ok());
  ActivitySession& second = ActivitySession::Make(*CuptiLibrary::Find(), [](const auto&) {});
  EXPECT_TRUE(absl::IsUnavailable(second.Begin()));
  Launch();
  session_->End();
  EXPECT_THAT(Kernels(), ElementsAre("_Z4geluPf 0"));
}

TEST(CuptiLibraryTest, MissingLibraryIsReported) {
  EXPECT_TRUE(absl::IsNotFound(CuptiLibrary::Load("/nowhere/libcupti.so.13").status()));
}

TEST(CuptiLibraryTest, LibraryThatIsNotCuptiIsRejectedByItsMissingFunction) {
  const absl::Status status = CuptiLibrary::Load("libm.so.6").status();
  EXPECT_TRUE(absl::IsUnimplemented(status));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("cuptiActivityRegisterCallbacks"));
}

}  // namespace
}  // namespace memtrace::cupti
