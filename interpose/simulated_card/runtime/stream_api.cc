// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Streams and events: the driver's, under the runtime's names.
#include <memory>

#include "interpose/simulated_card/runtime/runtime_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// A callback of the runtime, passed through the driver, whose callbacks take a CUresult. It is
// called once.
struct RuntimeCallback {
  cudaStreamCallback_t function;
  void* argument;
};

void CallRuntimeCallback(CUstream stream, CUresult result, void* callback) {
  const std::unique_ptr<RuntimeCallback> owned(static_cast<RuntimeCallback*>(callback));
  owned->function(stream, static_cast<cudaError_t>(result), owned->argument);
}

}  // namespace
}  // namespace memtrace::card

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return InContext([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return InContext([&] { return cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithFlags(stream, 0); }

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return InContext([&] { return cuStreamDestroy(stream); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return InContext([&] { return cuStreamGetPriority(stream, priority); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return InContext([&] { return cuStreamGetFlags(stream, flags); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return InContext([&] { return cuStreamGetId(stream, id); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return InContext([&] { return cuStreamGetDevice(stream, device); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return InContext([&] { return cuStreamQuery(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return InContext([&] { return cuStreamSynchronize(stream); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return InContext([&] { return cuStreamWaitEvent(stream, event, flags); });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  return InContext([&] { return cuLaunchHostFunc(stream, function, argument); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* argument, unsigned int flags) {
  return InContext([&]() -> CUresult {
    if (callback == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto through = std::make_unique<RuntimeCallback>(RuntimeCallback{callback, argument});
    const CUresult added = cuStreamAddCallback(stream, CallRuntimeCallback, through.get(), flags);
    // NOLINTNEXTLINE(bugprone-unused-return-value): the call that is now due will delete it
    if (added == CUDA_SUCCESS) static_cast<void>(through.release());
    return added;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return InContext([&] { return cuEventCreate(event, flags); });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return InContext([&] { return cuEventDestroy(event); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return InContext([&] { return cuEventRecord(event, stream); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return InContext([&] { return cuEventRecordWithFlags(event, stream, flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return InContext([&] { return cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return InContext([&] { return cuEventSynchronize(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return InContext([&] { return cuEventElapsedTime(milliseconds, start, end); });
}
