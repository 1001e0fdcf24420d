// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Our allocator on a card that does its work as late as it can: it must wait for whoever uses
// memory before that memory changes its owner, and a card that is not waited for must notice.
#include <cuda.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "allocator/cuda/open_card.h"
#include "allocator/heap/caching_allocator.h"
#include "interpose/simulated_card/interface/card_control.h"
#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace {
namespace {

// Reports everything as done and waits for nothing, which is the mistake that the card must detect.
class CarelessEvents : public StreamEvents {
 public:
  absl::StatusOr<EventId> Record(StreamId) override { return EventId{1}; }
  absl::StatusOr<bool> Done(EventId) override { return true; }
  absl::Status Wait(EventId) override { return absl::OkStatus(); }
  void Forget(EventId) override {}
  absl::Status WaitForAll() override { return absl::OkStatus(); }
  bool IsCapturing(StreamId) override { return false; }
};

class SilentObserver : public AllocationObserver {};

class LazyAllocatorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(memtrace_card_set_events(MEMTRACE_CARD_LAZY, 0), MEMTRACE_CARD_OK);
    CUcontext context = nullptr;
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    for (CUstream& stream : streams_) {
      ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    }
    faults_before_ = CountFaults();
  }

  static uint64_t CountFaults() {
    struct memtrace_card_activity activity {};
    activity.size = sizeof(activity);
    EXPECT_EQ(memtrace_card_activity(&activity), MEMTRACE_CARD_OK);
    return activity.faults;
  }
  static std::string FirstFault() {
    std::string first;
    memtrace_card_visit_faults(
        [](void* text, const char* sentence, uint64_t number) {
          if (number == 1) *static_cast<std::string*>(text) = sentence;
        },
        &first);
    return first;
  }
  uint64_t NewFaults() const { return CountFaults() - faults_before_; }

  static StreamId IdOf(CUstream stream) { return StreamId{reinterpret_cast<uintptr_t>(stream)}; }

  // Launches a kernel in the stream that reads and writes the block.
  static void Use(DeviceAddress address, Bytes bytes, CUstream stream) {
    ASSERT_EQ(memtrace_card_launch_kernel(nullptr, stream, &kMemtraceCardOneThread), 0);
    ASSERT_EQ(memtrace_card_note_use(address.value(), bytes, stream, 0, "kernel"),
              MEMTRACE_CARD_OK);
  }

  // Allocates blocks of random sizes on random streams, a third of them used by a second stream,
  // more than the card holds, so that chunks move between streams all the time.
  void RunProgram(StreamEvents& events, unsigned seed) {
    CachingAllocator allocator({}, *card_.vmm, events, observer_);
    std::mt19937 random(seed);
    std::vector<DeviceAddress> live;
    const auto any_stream = [&] { return streams_[random() % streams_.size()]; };
    for (int step = 0; step < 1500; ++step) {
      const Bytes bytes = (1 + random() % 24) << 20;
      CUstream const stream = any_stream();
      const AllocationResult result = allocator.Allocate(bytes, IdOf(stream));
      if (const auto* address = std::get_if<DeviceAddress>(&result)) {
        Use(*address, bytes, stream);
        if (random() % 3 == 0) {
          CUstream const second = any_stream();
          Use(*address, bytes, second);
          ASSERT_TRUE(allocator.RecordStream(*address, IdOf(second)).ok());
        }
        live.push_back(*address);
      }
      while (live.size() > 6 || (!live.empty() && !std::holds_alternative<DeviceAddress>(result))) {
        std::swap(live[random() % live.size()], live.back());
        ASSERT_TRUE(allocator.Free(live.back()).ok());
        live.pop_back();
      }
    }
    for (const DeviceAddress address : live) ASSERT_TRUE(allocator.Free(address).ok());
    ASSERT_TRUE(allocator.EmptyCache().ok());
  }

  std::array<CUstream, 3> streams_ = {};
  OpenedCard card_ = OpenCard(DeviceIndex{0}).value();
  SilentObserver observer_;
  uint64_t faults_before_ = 0;
};

TEST_F(LazyAllocatorTest, ChunksChangeOwnerOnlyAfterTheirWorkIsDone) {
  for (const unsigned seed : {1u, 2u, 3u}) RunProgram(*card_.events, seed);
  EXPECT_EQ(NewFaults(), 0u) << FirstFault();
}

TEST_F(LazyAllocatorTest, AllocatorThatDoesNotWaitCausesFaults) {
  CarelessEvents careless;
  RunProgram(careless, 1);
  EXPECT_GT(NewFaults(), 0u);
  EXPECT_NE(FirstFault().find("cuMemUnmap"), std::string::npos) << FirstFault();
  EXPECT_NE(FirstFault().find("while kernel (work"), std::string::npos) << FirstFault();
}

}  // namespace
}  // namespace memtrace
