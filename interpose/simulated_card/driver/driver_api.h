// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_DRIVER_API_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_DRIVER_API_H_

// Declarations that the *_api.cc files share. They define functions that cuda.h declares; how
// cuda.h is included decides if they are exported. Its macros also pick the version of each name
// (cuMemAlloc is cuMemAlloc_v2), so a definition here is always the one CUDA 13 programs are
// compiled against.
#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop

#include "interpose/simulated_card/machine.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

static_assert(static_cast<int>(Result::kAlreadyMapped) == CUDA_ERROR_ALREADY_MAPPED);
static_assert(static_cast<int>(Result::kIllegalAddress) == CUDA_ERROR_ILLEGAL_ADDRESS);
static_assert(static_cast<int>(Result::kContextIsDestroyed) == CUDA_ERROR_CONTEXT_IS_DESTROYED);
static_assert(static_cast<int>(Result::kMapFailed) == CUDA_ERROR_MAP_FAILED);
static_assert(static_cast<int>(Result::kNotPermitted) == CUDA_ERROR_NOT_PERMITTED);
static_assert(static_cast<int>(Result::kNotSupported) == CUDA_ERROR_NOT_SUPPORTED);
static_assert(static_cast<int>(Result::kInvalidContext) == CUDA_ERROR_INVALID_CONTEXT);
static_assert(static_cast<int>(Result::kCaptureUnsupported) ==
              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
static_assert(static_cast<int>(Result::kCapturedEvent) == CUDA_ERROR_CAPTURED_EVENT);

// True after a successful cuInit, false again in a child that was forked after it.
bool DriverIsInitialized();

// Below, `call` names the exported function, for tests that watch calls: by default the function
// that contains the expression. Functions in between pass it on.

// Runs body(machine) once the driver is initialized, unless the call is planned to fail.
template <typename Body>
CUresult WithMachine(Body body, const char* call = __builtin_FUNCTION()) {
  if (!DriverIsInitialized()) return CUDA_ERROR_NOT_INITIALIZED;
  Machine& machine = *Machine::OfProcess();
  if (!machine.calls.AreWatched()) return static_cast<CUresult>(body(machine));
  WatchedCalls::Scope scope(machine.calls, call);
  const int result = scope.failure() != 0 ? scope.failure() : static_cast<int>(body(machine));
  return static_cast<CUresult>(scope.Returns(result));
}

// Runs body(machine, device) if the thread has a current context that has not been ended.
template <typename Body>
CUresult WithContext(Body body, const char* call = __builtin_FUNCTION()) {
  return WithMachine(
      [&](Machine& machine) {
        const Context* current = Contexts::Current();
        if (current == nullptr) return Result::kInvalidContext;
        return current->active ? body(machine, current->device) : Result::kContextIsDestroyed;
      },
      call);
}

// Runs body(machine) if the device exists.
template <typename Body>
CUresult WithDevice(int device, Body body, const char* call = __builtin_FUNCTION()) {
  return WithMachine(
      [&](Machine& machine) {
        return machine.HasDevice(device) ? body(machine) : Result::kInvalidDevice;
      },
      call);
}

// Returns the value of a device attribute; 0 for a feature that the card does not have.
int DeviceAttribute(const Card& card, CUdevice_attribute attribute);

// Writes what an attribute is through the pointer that a caller of the driver gave for it.
template <typename Value>
Result Answer(void* data, Value value) {
  *static_cast<Value*>(data) = value;
  return Result::kSuccess;
}

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_DRIVER_API_H_
