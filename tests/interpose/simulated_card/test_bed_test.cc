// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The card as a test bed, through the functions that it exports (card_control.h).
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "interpose/simulated_card/interface/card_control.h"
#include "interpose/simulated_card/interface/library_calls.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kGranule = 2u << 20;

// A mapping of one chunk.
struct Chunk {
  CUdeviceptr begin = 0;
  CUmemGenericAllocationHandle handle = 0;
};

class TestBedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess) << "set MEMTRACE_CARD, as ctest does";
    ASSERT_EQ(memtrace_card_set_events(MEMTRACE_CARD_LAZY, 0), MEMTRACE_CARD_OK);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    faults_before_ = Faults().size();
  }
  void TearDown() override {
    EXPECT_EQ(memtrace_card_plan_failures(nullptr, nullptr, 0), MEMTRACE_CARD_OK);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    cudaGetLastError();
  }

  static std::vector<std::string> Visited(void (*visit)(memtrace_card_visitor, void*)) {
    std::vector<std::string> texts;
    visit([](void* list, const char* text,
             uint64_t) { static_cast<std::vector<std::string>*>(list)->emplace_back(text); },
          &texts);
    return texts;
  }
  static std::vector<std::string> Faults() { return Visited(memtrace_card_visit_faults); }
  std::vector<std::string> NewFaults() const {
    std::vector<std::string> faults = Faults();
    faults.erase(faults.begin(), faults.begin() + static_cast<std::ptrdiff_t>(faults_before_));
    return faults;
  }
  static struct memtrace_card_ledger Ledger() {
    struct memtrace_card_ledger ledger {};
    ledger.size = sizeof(ledger);
    EXPECT_EQ(memtrace_card_ledger(0, &ledger), MEMTRACE_CARD_OK);
    return ledger;
  }
  static memtrace_card_live Live() {
    memtrace_card_live live{};
    live.size = sizeof(live);
    EXPECT_EQ(memtrace_card_get_live(&live), MEMTRACE_CARD_OK);
    return live;
  }
  static Chunk Map() {
    Chunk chunk;
    CUmemAllocationProp properties = {};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};
    CUmemAccessDesc access = {};
    access.location = properties.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    EXPECT_EQ(cuMemAddressReserve(&chunk.begin, kGranule, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemCreate(&chunk.handle, kGranule, &properties, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemMap(chunk.begin, kGranule, 0, chunk.handle, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuMemSetAccess(chunk.begin, kGranule, &access, 1), CUDA_SUCCESS);
    return chunk;
  }
  static void TakeAway(const Chunk& chunk) {
    EXPECT_EQ(cuMemUnmap(chunk.begin, kGranule), CUDA_SUCCESS);
    EXPECT_EQ(cuMemRelease(chunk.handle), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAddressFree(chunk.begin, kGranule), CUDA_SUCCESS);
  }
  static void Plan(const char* plan) {
    char error[256] = "";
    ASSERT_EQ(memtrace_card_plan_failures(plan, error, sizeof(error)), MEMTRACE_CARD_OK) << error;
  }

  cudaStream_t stream_ = nullptr;
  std::size_t faults_before_ = 0;
};

TEST_F(TestBedTest, UnmappingDuringAFillIsAFaultUnlessWaitedFor) {
  Chunk chunk = Map();
  ASSERT_EQ(cuMemsetD8Async(chunk.begin, 1, 16, stream_), CUDA_SUCCESS);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  TakeAway(chunk);
  EXPECT_THAT(NewFaults(), IsEmpty());

  chunk = Map();
  ASSERT_EQ(cuMemsetD8Async(chunk.begin, 1, 16, stream_), CUDA_SUCCESS);
  TakeAway(chunk);
  EXPECT_THAT(NewFaults(),
              ElementsAre(HasSubstr("while cuMemsetD8Async"), HasSubstr("cuMemRelease of handle")));
}

TEST_F(TestBedTest, KernelUsesCanBeStated) {
  const Chunk chunk = Map();
  ASSERT_EQ(memtrace_card_launch_kernel(nullptr, stream_, &kMemtraceCardOneThread), 0);
  ASSERT_EQ(memtrace_card_note_use(chunk.begin, 64, stream_, 0, "kernel"), MEMTRACE_CARD_OK);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess) << "not the kernel's stream";
  TakeAway(chunk);
  EXPECT_THAT(NewFaults(), ElementsAre(HasSubstr("while kernel (work"), HasSubstr("cuMemRelease")));
  EXPECT_EQ(memtrace_card_note_use(0, 0, &stream_, 0, "x"), MEMTRACE_CARD_INVALID_ARGUMENT);
}

TEST_F(TestBedTest, FreeWaitsAndLaterAccessesNameIt) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, kGranule), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(memory, 0, kGranule, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaSuccess);
  EXPECT_THAT(NewFaults(), IsEmpty());
  EXPECT_NE(cudaMemsetAsync(memory, 0, 16, stream_), cudaSuccess);
  EXPECT_THAT(NewFaults(), ElementsAre(HasSubstr("taken away by cuMemFree")));
}

TEST_F(TestBedTest, OnlyBlockingCopiesWait) {
  void* memory = nullptr;
  void* pinned = nullptr;
  char pageable[16] = {};
  ASSERT_EQ(cudaMalloc(&memory, kGranule), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, sizeof(pageable)), cudaSuccess);
  const auto is_done = [&] { return cudaStreamQuery(stream_) == cudaSuccess; };
  ASSERT_EQ(cudaMemcpyAsync(memory, pageable, 16, cudaMemcpyDefault, stream_), cudaSuccess);
  EXPECT_FALSE(is_done());
  ASSERT_EQ(cudaMemcpyAsync(pinned, memory, 16, cudaMemcpyDefault, stream_), cudaSuccess);
  EXPECT_FALSE(is_done());
  ASSERT_EQ(cudaMemcpyAsync(pageable, memory, 16, cudaMemcpyDefault, stream_), cudaSuccess);
  EXPECT_TRUE(is_done()) << "to pageable memory";
  ASSERT_EQ(memtrace_card_launch_kernel(nullptr, nullptr, &kMemtraceCardOneThread), 0);
  ASSERT_EQ(cudaMemcpy(static_cast<char*>(memory) + 64, memory, 16, cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady) << "within the card";
  ASSERT_EQ(cudaMemcpy(memory, pinned, 16, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

TEST_F(TestBedTest, HostFunctionsRunInOrderWhenWaitedFor) {
  std::vector<int> order;
  const auto append = [](void* list) {
    auto* numbers = static_cast<std::vector<int>*>(list);
    numbers->push_back(static_cast<int>(numbers->size()));
  };
  const auto callback = [](cudaStream_t, cudaError_t error, void* list) {
    static_cast<std::vector<int>*>(list)->push_back(100 + static_cast<int>(error));
  };
  ASSERT_EQ(cudaLaunchHostFunc(stream_, append, &order), cudaSuccess);
  ASSERT_EQ(cudaStreamAddCallback(stream_, callback, &order, 0), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(stream_, append, &order), cudaSuccess);
  EXPECT_THAT(order, IsEmpty());
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_THAT(order, ElementsAre(0, 100, 2));
}

TEST_F(TestBedTest, PlannedFailuresChangeNothing) {
  Plan("cudaMalloc@2=cudaErrorMemoryAllocation;cuMemMap@1+=CUDA_ERROR_INVALID_VALUE");
  const std::uint64_t before = Ledger().free;
  void* memory = nullptr;
  void* refused = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, kGranule), cudaSuccess);
  EXPECT_EQ(cudaMalloc(&refused, kGranule), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(Ledger().free, before - kGranule);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cuMemMap(0, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  char error[256] = "";
  EXPECT_EQ(memtrace_card_plan_failures("nonsense", error, sizeof(error)),
            MEMTRACE_CARD_INVALID_ARGUMENT);
  EXPECT_THAT(error, HasSubstr("write FUNCTION@N=ERROR"));
}

TEST_F(TestBedTest, LibraryCallsAndLaunchesCanFail) {
  Plan("cublasSgemm@1=719");
  EXPECT_EQ(memtrace_card_launch_call("cublasSgemm", stream_), 719);
  EXPECT_EQ(memtrace_card_launch_call("cublasSgemm", stream_), 0);
}

TEST_F(TestBedTest, CardSizeAndOtherMemoryCanChange) {
  const struct memtrace_card_ledger before = Ledger();
  const std::uint64_t used = before.total - before.free;
  EXPECT_EQ(memtrace_card_resize(0, used - 1), MEMTRACE_CARD_DOES_NOT_FIT);
  ASSERT_EQ(memtrace_card_resize(0, used + kGranule), MEMTRACE_CARD_OK);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 2 * kGranule), cudaErrorMemoryAllocation);
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(total, used + kGranule);
  ASSERT_EQ(memtrace_card_resize(0, before.total), MEMTRACE_CARD_OK);
  EXPECT_EQ(memtrace_card_set_other(0, before.total), MEMTRACE_CARD_DOES_NOT_FIT);
  ASSERT_EQ(memtrace_card_set_other(0, before.other + before.free), MEMTRACE_CARD_OK);
  EXPECT_EQ(cudaMalloc(&memory, kGranule), cudaErrorMemoryAllocation);
  ASSERT_EQ(memtrace_card_set_other(0, before.other), MEMTRACE_CARD_OK);
  EXPECT_EQ(Ledger().free, before.free);
  EXPECT_EQ(memtrace_card_resize(7, 1), MEMTRACE_CARD_NO_SUCH_DEVICE);
}

TEST_F(TestBedTest, LiveObjectsAreCounted) {
  const memtrace_card_live before = Live();
  const Chunk chunk = Map();
  void* memory = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 512), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  const memtrace_card_live now = Live();
  EXPECT_EQ(now.allocations, before.allocations + 1);
  EXPECT_EQ(now.handles, before.handles + 1);
  EXPECT_EQ(now.mappings, before.mappings + 1);
  EXPECT_EQ(now.reservations, before.reservations + 1);
  EXPECT_EQ(now.events, before.events + 1);
  EXPECT_EQ(now.streams, before.streams);
  TakeAway(chunk);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  const memtrace_card_live after = Live();
  EXPECT_EQ(
      after.allocations + after.handles + after.mappings + after.reservations + after.events,
      before.allocations + before.handles + before.mappings + before.reservations + before.events);
}

TEST_F(TestBedTest, CallsOfTheProgramAreLogged) {
  ASSERT_EQ(memtrace_card_log_calls(1), MEMTRACE_CARD_OK);
  TakeAway(Map());
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 512), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  ASSERT_EQ(memtrace_card_log_calls(0), MEMTRACE_CARD_OK);
  EXPECT_THAT(Visited(memtrace_card_visit_calls),
              ElementsAre("cuMemAddressReserve(2097152) = 0", "cuMemCreate(2097152) = 0",
                          "cuMemMap(2097152) = 0", "cuMemSetAccess(2097152) = 0",
                          "cuMemUnmap(2097152) = 0", "cuMemRelease = 0",
                          "cuMemAddressFree(2097152) = 0", "cudaMalloc(512) = 0", "cudaFree = 0"));
}

TEST_F(TestBedTest, DelayedEventsAreReadyAfterThatManyQueries) {
  ASSERT_EQ(memtrace_card_set_events(MEMTRACE_CARD_DELAYED, 1), MEMTRACE_CARD_OK);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(memtrace_card_launch_kernel(nullptr, stream_, &kMemtraceCardOneThread), 0);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(memtrace_card_set_events(3, 0), MEMTRACE_CARD_INVALID_ARGUMENT);
}

TEST_F(TestBedTest, CountsShowWhetherTimingMattered) {
  memtrace_card_events events{};
  events.size = sizeof(events);
  ASSERT_EQ(memtrace_card_get_events(&events), MEMTRACE_CARD_OK);
  const std::uint64_t not_ready = events.not_ready;
  EXPECT_EQ(events.mode, std::uint32_t{MEMTRACE_CARD_LAZY});
  ASSERT_EQ(memtrace_card_launch_kernel(nullptr, stream_, &kMemtraceCardOneThread), 0);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  ASSERT_EQ(memtrace_card_set_events(MEMTRACE_CARD_EAGER, 0), MEMTRACE_CARD_OK);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaSuccess);
  const std::uint64_t early = events.early;
  ASSERT_EQ(memtrace_card_get_events(&events), MEMTRACE_CARD_OK);
  EXPECT_EQ(events.not_ready, not_ready + 1);
  EXPECT_EQ(events.early, early + 1);
}

TEST_F(TestBedTest, ChildForkedAfterCudaStartedHasNoDevice) {
  const pid_t child = fork();
  if (child == 0) {
    int count = 0;
    _exit(cudaGetDeviceCount(&count) == cudaErrorInitializationError &&
                  cuInit(0) == CUDA_ERROR_NOT_INITIALIZED
              ? 0
              : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
