// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// The activity API on two cards (MEMTRACE_CARD as ctest sets it), as a client of NVIDIA's sees it.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cupti_records.h"
#include "interpose/simulated_card/interface/library_calls.h"
#include "tests/interpose/simulated_card/cupti/cupti_recorder.h"

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::size_t operator""_MiB(unsigned long long n) { return n << 20; }

// Any address can stand for the host's side of a kernel.
constexpr char kKernel = 0;
std::uint64_t ticks = 0;

class CuptiActivityTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { memtrace_card_register_kernel(&kKernel, "_Z4geluPf"); }
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    CuptiRecorder::Begin();
  }
  void TearDown() override { EXPECT_EQ(cuptiFinalize(), CUPTI_SUCCESS); }

  static void Enable(const std::vector<CUpti_ActivityKind>& kinds) {
    for (const CUpti_ActivityKind kind : kinds)
      ASSERT_EQ(cuptiActivityEnable(kind), CUPTI_SUCCESS) << kind;
  }
  static void Launch(cudaStream_t stream = nullptr) {
    ASSERT_EQ(cudaLaunchKernel(&kKernel, dim3(7, 2), dim3(128), nullptr, 1024, stream),
              cudaSuccess);
  }
  static std::vector<std::string> Calls() {
    std::vector<std::string> names;
    for (const CUpti_Activity* record : CuptiRecorder::Records()) {
      const bool is_runtime = record->kind == CUPTI_ACTIVITY_KIND_RUNTIME;
      if (!is_runtime && record->kind != CUPTI_ACTIVITY_KIND_DRIVER) continue;
      const char* name = "";
      EXPECT_EQ(cuptiGetCallbackName(
                    is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API,
                    reinterpret_cast<const CUpti_ActivityAPI*>(record)->cbid, &name),
                CUPTI_SUCCESS);
      names.emplace_back(name);
    }
    return names;
  }
};

TEST_F(CuptiActivityTest, KernelIsTiedToItsCallAndTheCallToItsRegion) {
  Enable({CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
          CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION});
  const auto region = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  ASSERT_EQ(cuptiActivityPushExternalCorrelationId(region, 11), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiActivityPushExternalCorrelationId(region, 12), CUPTI_SUCCESS);
  Launch();
  std::uint64_t last = 0;
  ASSERT_EQ(cuptiActivityPopExternalCorrelationId(region, &last), CUPTI_SUCCESS);
  EXPECT_EQ(last, 12u);
  ASSERT_EQ(cuptiActivityPopExternalCorrelationId(region, nullptr), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiActivityPopExternalCorrelationId(region, nullptr), CUPTI_ERROR_QUEUE_EMPTY);

  const auto records = CuptiRecorder::Records();
  ASSERT_THAT(records, SizeIs(3));
  const auto* external = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(records[0]);
  const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(records[1]);
  const auto* kernel = reinterpret_cast<const KernelRecord*>(records[2]);
  ASSERT_EQ(external->kind, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  EXPECT_EQ(external->externalId, 12u);
  EXPECT_EQ(external->externalKind, region);
  EXPECT_EQ(external->correlationId, call->correlationId);
  EXPECT_EQ(call->cbid,
            static_cast<std::uint32_t>(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000));
  EXPECT_EQ(kernel->correlationId, call->correlationId);
  EXPECT_STREQ(kernel->name, "_Z4geluPf");
  EXPECT_EQ(kernel->gridX, 7);
  EXPECT_EQ(kernel->gridY, 2);
  EXPECT_EQ(kernel->blockX, 128);
  EXPECT_EQ(kernel->dynamicSharedMemory, 1024);
  EXPECT_GE(kernel->start, call->start);
}

TEST_F(CuptiActivityTest, StreamWorkIsOrderedAndEndsBeforeTheWait) {
  ASSERT_EQ(cuptiActivityRegisterTimestampCallback([]() -> std::uint64_t { return ++ticks; }),
            CUPTI_SUCCESS);
  Enable({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION});
  for (int i = 0; i < 20; ++i) Launch();
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  const auto kernels = CuptiRecorder::Of<KernelRecord>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  const auto waits = CuptiRecorder::Of<SynchronizationRecord>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  ASSERT_THAT(kernels, SizeIs(20));
  ASSERT_THAT(waits, SizeIs(1));
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_LE(kernels[i]->start, kernels[i]->end);
    if (i == 0) continue;
    EXPECT_LE(kernels[i - 1]->end, kernels[i]->start);
  }
  EXPECT_LE(kernels.back()->end, waits[0]->end);
  EXPECT_EQ(waits[0]->type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
  EXPECT_EQ(waits[0]->streamId, kernels[0]->streamId);
}

TEST_F(CuptiActivityTest, CopiesAndFillsHaveBytesAndMemoryKinds) {
  void* device = nullptr;
  void* pinned = nullptr;
  std::vector<char> pageable(4096);
  ASSERT_EQ(cudaMalloc(&device, 1_MiB), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 8192), cudaSuccess);
  Enable({CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET});
  ASSERT_EQ(cudaMemcpy(device, pageable.data(), 4096, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(pinned, device, 8192, cudaMemcpyDeviceToHost, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemcpy2DAsync(device, 100, pageable.data(), 50, 50, 20, cudaMemcpyDefault, nullptr),
            cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device, 3, 777, nullptr), cudaSuccess);
  const auto copies = CuptiRecorder::Of<CopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY);
  ASSERT_THAT(copies, SizeIs(3));
  EXPECT_EQ(copies[0]->bytes, 4096u);
  EXPECT_EQ(copies[0]->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(copies[0]->srcKind, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
  EXPECT_EQ(copies[0]->flags, 0);
  EXPECT_EQ(copies[1]->bytes, 8192u);
  EXPECT_EQ(copies[1]->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  EXPECT_EQ(copies[1]->dstKind, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  EXPECT_EQ(copies[1]->flags, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
  EXPECT_EQ(copies[2]->bytes, 1000u);
  const auto fills = CuptiRecorder::Of<FillRecord>(CUPTI_ACTIVITY_KIND_MEMSET);
  ASSERT_THAT(fills, SizeIs(1));
  EXPECT_EQ(fills[0]->bytes, 777u);
  EXPECT_EQ(fills[0]->value, 3u);
  EXPECT_EQ(fills[0]->memoryKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  ASSERT_EQ(cudaFree(device), cudaSuccess);
  ASSERT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(CuptiActivityTest, VolumeCopyIsOneRecordAndAFailedOneNone) {
  void* device = nullptr;
  std::vector<char> pageable(4096);
  ASSERT_EQ(cudaMalloc(&device, 4096), cudaSuccess);
  Enable({CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_RUNTIME});
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = {.ptr = pageable.data(), .pitch = 16, .xsize = 16, .ysize = 8};
  copy.dstPtr = {.ptr = device, .pitch = 32, .xsize = 32, .ysize = 8};
  copy.extent = {.width = 10, .height = 4, .depth = 3};
  copy.kind = cudaMemcpyDefault;
  ASSERT_EQ(cudaMemcpy3DAsync(&copy, nullptr), cudaSuccess);
  copy.extent.width = 17;
  ASSERT_EQ(cudaMemcpy3D(&copy), cudaErrorInvalidValue);
  EXPECT_THAT(Calls(), ElementsAre("cudaMemcpy3DAsync_v3020", "cudaMemcpy3D_v3020"));
  const auto copies = CuptiRecorder::Of<CopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY);
  ASSERT_THAT(copies, SizeIs(1));
  EXPECT_EQ(copies[0]->bytes, 120u);
  EXPECT_EQ(copies[0]->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(copies[0]->flags, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
  ASSERT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(CuptiActivityTest, WorkHasTheNumberOfItsContext) {
  CUcontext context = nullptr;
  unsigned long long id = 0;
  Enable({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  Launch();
  ASSERT_EQ(cuCtxCreate(&context, nullptr, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetId(context, &id), CUDA_SUCCESS);
  ASSERT_EQ(memtrace_card_launch_call("in the second context", nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  const auto kernels = CuptiRecorder::Of<KernelRecord>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0]->contextId, 1u);
  EXPECT_EQ(kernels[1]->contextId, id);
}

TEST_F(CuptiActivityTest, CopyBetweenCardsNamesBoth) {
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(cudaMalloc(&first, 1_MiB), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&second, 1_MiB), cudaSuccess);
  Enable({CUPTI_ACTIVITY_KIND_MEMCPY});
  ASSERT_EQ(cudaMemcpyPeerAsync(second, 1, first, 0, 1_MiB, nullptr), cudaSuccess);
  const auto copies = CuptiRecorder::Of<PeerCopyRecord>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  ASSERT_THAT(copies, SizeIs(1));
  EXPECT_EQ(copies[0]->bytes, 1_MiB);
  EXPECT_EQ(copies[0]->srcDeviceId, 0u);
  EXPECT_EQ(copies[0]->dstDeviceId, 1u);
  ASSERT_EQ(cudaFree(first), cudaSuccess);
  ASSERT_EQ(cudaFree(second), cudaSuccess);
}

TEST_F(CuptiActivityTest, AllocationsAndReleasesHaveExactBytes) {
  Enable({CUPTI_ACTIVITY_KIND_MEMORY2});
  void* device = nullptr;
  void* pooled = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 1234567), cudaSuccess);
  ASSERT_EQ(cudaMallocAsync(&pooled, 4321, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, 8192), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync(pooled, nullptr), cudaSuccess);
  ASSERT_EQ(cudaFree(device), cudaSuccess);
  ASSERT_EQ(cudaFreeHost(pinned), cudaSuccess);
  std::vector<std::string> told;
  for (const auto* record : CuptiRecorder::Of<MemoryRecord>(CUPTI_ACTIVITY_KIND_MEMORY2)) {
    const auto* at = reinterpret_cast<void*>(record->address);
    told.push_back(std::string(record->memoryOperationType == 1 ? "+" : "-") +
                   (at == device   ? "device"
                    : at == pooled ? "pooled"
                                   : "pinned") +
                   " " + std::to_string(record->bytes) + " kind " +
                   std::to_string(record->memoryKind) + (record->isAsync != 0 ? " async" : "") +
                   (record->memoryPoolConfig.address != 0 ? " of a pool" : ""));
  }
  EXPECT_THAT(told, ElementsAre("+device 1234567 kind 3", "+pooled 4321 kind 3 async of a pool",
                                "+pinned 8192 kind 2", "-pooled 4321 kind 3 async of a pool",
                                "-device 1234567 kind 3", "-pinned 8192 kind 2"));
}

TEST_F(CuptiActivityTest, FailedCallIsRecordedWithoutAnAllocation) {
  Enable({CUPTI_ACTIVITY_KIND_MEMORY2, CUPTI_ACTIVITY_KIND_RUNTIME});
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, std::size_t{1} << 40), cudaErrorMemoryAllocation);
  EXPECT_THAT(CuptiRecorder::Of<MemoryRecord>(CUPTI_ACTIVITY_KIND_MEMORY2), IsEmpty());
  const auto calls = CuptiRecorder::Of<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  ASSERT_THAT(calls, SizeIs(1));
  EXPECT_EQ(calls[0]->returnValue, static_cast<std::uint32_t>(cudaErrorMemoryAllocation));
}

TEST_F(CuptiActivityTest, ProgramCallsAreRecordedOnceByTheirNewestName) {
  Enable({CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER});
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 1_MiB), cudaSuccess);
  ASSERT_EQ(cuMemFree(reinterpret_cast<CUdeviceptr>(device)), CUDA_SUCCESS);
  Launch();
  EXPECT_THAT(Calls(), ElementsAre("cudaMalloc_v3020", "cuMemFree_v2", "cudaLaunchKernel_v7000"));
}

TEST_F(CuptiActivityTest, LibraryKernelsAreLaunchedAsByNvidiasLibraries) {
  cublasHandle_t handle = nullptr;
  ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 1_MiB), cudaSuccess);
  auto* matrix = static_cast<float*>(device);
  const float one = 1;
  Enable({CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, matrix, 8, matrix, 8, &one,
                        matrix, 8),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_THAT(Calls(), ElementsAre("cudaLaunchKernel_v7000"));
  const auto kernels = CuptiRecorder::Of<KernelRecord>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  ASSERT_THAT(kernels, SizeIs(1));
  EXPECT_STREQ(kernels[0]->name, "cublasSgemm_v2");
  ASSERT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(CuptiActivityTest, SingleFunctionsAreEnabledOrDisabled) {
  Enable({CUPTI_ACTIVITY_KIND_RUNTIME});
  ASSERT_EQ(cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 0),
            CUPTI_SUCCESS);
  Launch();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_THAT(Calls(), ElementsAre("cudaDeviceSynchronize_v3020"));
  ASSERT_EQ(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 1),
            CUPTI_SUCCESS);
  CuptiRecorder::Begin();
  Launch();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_THAT(Calls(), ElementsAre("cudaLaunchKernel_v7000"));
}

TEST_F(CuptiActivityTest, EachGraphLaunchHasItsKernelsAndCorrelation) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  Launch(stream);
  Launch(stream);
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  Enable({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  const auto kernels = CuptiRecorder::Of<KernelRecord>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  ASSERT_THAT(kernels, SizeIs(4));
  EXPECT_EQ(kernels[0]->correlationId, kernels[1]->correlationId);
  EXPECT_LT(kernels[1]->correlationId, kernels[2]->correlationId);
  ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(CuptiActivityTest, EventHasOneIdWhereRecordedAndWaitedFor) {
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  Enable({CUPTI_ACTIVITY_KIND_SYNCHRONIZATION});
  ASSERT_EQ(cudaEventRecord(event, nullptr), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream, event, 0), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(event), cudaSuccess);
  const auto events = CuptiRecorder::Of<EventRecord>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  const auto waits = CuptiRecorder::Of<SynchronizationRecord>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  ASSERT_THAT(events, SizeIs(1));
  ASSERT_THAT(waits, SizeIs(2));
  EXPECT_EQ(waits[0]->type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
  EXPECT_EQ(waits[0]->cudaEventId, events[0]->eventId);
  EXPECT_EQ(waits[1]->type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
  EXPECT_EQ(waits[1]->cudaEventId, events[0]->eventId);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  ASSERT_EQ(cudaEventDestroy(event), cudaSuccess);
}

TEST_F(CuptiActivityTest, FullBuffersAreReturnedWithoutLoss) {
  CuptiRecorder::Begin(4 * sizeof(CUpti_ActivityAPI) + 8);
  Enable({CUPTI_ACTIVITY_KIND_RUNTIME});
  for (int i = 0; i < 10; ++i) Launch();
  EXPECT_EQ(CuptiRecorder::Completed(), 2u);
  EXPECT_THAT(CuptiRecorder::Records(), SizeIs(10));
  EXPECT_EQ(CuptiRecorder::Completed(), 3u);
}

TEST_F(CuptiActivityTest, BufferHoldsAtMostTheRequestedRecords) {
  CuptiRecorder::Begin(1 << 20, 3);
  Enable({CUPTI_ACTIVITY_KIND_RUNTIME});
  for (int i = 0; i < 7; ++i) Launch();
  EXPECT_THAT(CuptiRecorder::Records(), SizeIs(7));
  EXPECT_EQ(CuptiRecorder::Completed(), 3u);
}

TEST_F(CuptiActivityTest, RecordsWithoutABufferAreCounted) {
  CuptiRecorder::Begin(4 * sizeof(CUpti_ActivityAPI), 0, 1);
  Enable({CUPTI_ACTIVITY_KIND_RUNTIME});
  for (int i = 0; i < 10; ++i) Launch();
  EXPECT_THAT(CuptiRecorder::Records(), SizeIs(4));
  std::size_t dropped = 0;
  ASSERT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 6u);
  ASSERT_EQ(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), CUPTI_SUCCESS);
  EXPECT_EQ(dropped, 0u);
}

TEST_F(CuptiActivityTest, UnsupportedActivitiesAreRejected) {
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING), CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER),
            CUPTI_ERROR_NOT_COMPATIBLE);
  EXPECT_EQ(cuptiActivityEnable(static_cast<CUpti_ActivityKind>(5000)), CUPTI_ERROR_INVALID_KIND);
  EXPECT_EQ(cuptiActivityEnableRuntimeApi(4000, 1), CUPTI_ERROR_INVALID_PARAMETER);
  std::uint8_t per_thread = 1;
  std::size_t size = sizeof(per_thread);
  EXPECT_EQ(
      cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &per_thread),
      CUPTI_ERROR_NOT_SUPPORTED);
  const char* text = "";
  ASSERT_EQ(cuptiGetResultString(CUPTI_ERROR_NOT_COMPATIBLE, &text), CUPTI_SUCCESS);
  EXPECT_STREQ(text, "CUPTI_ERROR_NOT_COMPATIBLE");
}

TEST_F(CuptiActivityTest, NothingIsRecordedAfterDisabling) {
  Enable({CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
  ASSERT_EQ(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME), CUPTI_SUCCESS);
  ASSERT_EQ(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_SUCCESS);
  Launch();
  EXPECT_THAT(CuptiRecorder::Records(), IsEmpty());
}

}  // namespace
}  // namespace memtrace::card
