// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_RUNTIME_API_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_RUNTIME_API_H_

// Declarations that the *_api.cc files share. The runtime is a thin layer over our own driver: it
// makes the primary context at its first use and remembers the last error. Its error numbers are
// the driver's.
//
// The sources are compiled once for each version of CUDA, with its own headers.
#include "cuda_major.h"  // from cuda_12/ or cuda_13/
#include "interpose/simulated_card/interface/library_calls.h"

namespace memtrace::card {

static_assert(static_cast<int>(cudaErrorMemoryAllocation) == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(static_cast<int>(cudaErrorInvalidResourceHandle) == CUDA_ERROR_INVALID_HANDLE);
static_assert(static_cast<int>(cudaErrorNotSupported) == CUDA_ERROR_NOT_SUPPORTED);
static_assert(static_cast<int>(cudaErrorNoDevice) == CUDA_ERROR_NO_DEVICE);
static_assert(static_cast<int>(cudaErrorNotReady) == CUDA_ERROR_NOT_READY);

// Stores an error for cudaGetLastError (except "not ready", which is an answer) and returns it.
cudaError_t Remember(cudaError_t error);
inline cudaError_t Remember(CUresult result) { return Remember(static_cast<cudaError_t>(result)); }

// Calls cuInit each time, which is cheap: in a forked child it must fail.
CUresult EnsureInitialized();
// Makes the primary context of the thread's device current if no context is.
CUresult EnsureContext();

// Makes a call that tests can watch; a call that is planned to fail is not made.
template <typename Call>
CUresult Watched(const char* name, Call call) {
  if (memtrace_card_calls_are_watched() == 0) return call();
  const auto body = [](void* made) { return static_cast<int>((*static_cast<Call*>(made))()); };
  return static_cast<CUresult>(memtrace_card_watch_call(name, body, &call));
}

// Runs a driver call that needs a context. `name` is the runtime's function.
template <typename Call>
cudaError_t InContext(Call call, const char* name = __builtin_FUNCTION()) {
  return Remember(Watched(name, [&]() -> CUresult {
    const CUresult ready = EnsureContext();
    return ready == CUDA_SUCCESS ? call() : ready;
  }));
}

// Runs a driver call that needs no context.
template <typename Call>
cudaError_t Initialized(Call call, const char* name = __builtin_FUNCTION()) {
  return Remember(Watched(name, [&]() -> CUresult {
    const CUresult ready = EnsureInitialized();
    return ready == CUDA_SUCCESS ? call() : ready;
  }));
}

// Returns the address that the driver knows a pointer of the runtime's interface by.
inline CUdeviceptr ToDevice(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_RUNTIME_RUNTIME_API_H_
