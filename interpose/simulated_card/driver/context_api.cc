// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Contexts; the rules are in Contexts and Machine::EndContext.
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/driver/telling.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// cuCtxGetApiVersion's numbers began with contexts that threads could not share.
constexpr unsigned kApiVersion = 3020;

CUcontext ToHandle(Context* context) { return reinterpret_cast<CUcontext>(context); }

// A flag that cuda.h does not define is invalid; the defined ones have no effect here.
bool AreFlags(unsigned flags) { return (flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) == 0; }

CUresult Create(CUcontext* context, unsigned flags, CUdevice device,
                const char* call = __builtin_FUNCTION()) {
  return WithDevice(
      device,
      [&](Machine& machine) {
        if (context == nullptr || !AreFlags(flags)) return Result::kInvalidValue;
        Context* created = nullptr;
        const Result result = machine.contexts.Create(device, flags, &created);
        if (result != Result::kSuccess) return result;
        *context = ToHandle(created);
        TellContext(machine, MEMTRACE_CARD_CONTEXT_MADE, *created);
        return result;
      },
      call);
}

// Reads a value of `context`, or of the current one if that is null.
template <typename Value, typename Read>
CUresult ReadFromContext(CUcontext context, Value* value, Read read,
                         const char* call = __builtin_FUNCTION()) {
  return WithContext(
      [&](Machine& machine, int) {
        if (value == nullptr) return Result::kInvalidValue;
        Context* asked = Contexts::Current();
        const Result found =
            context == nullptr ? Result::kSuccess : machine.contexts.Find(context, &asked);
        if (found == Result::kSuccess) *value = read(*asked);
        return found;
      },
      call);
}

}  // namespace
}  // namespace memtrace::card

// Contexts that share a card's multiprocessors or a graphics queue are refused, because no card
// here has either.
CUresult cuCtxCreate(CUcontext* context, CUctxCreateParams* parameters, unsigned int flags,
                     CUdevice device) {
  const bool plain = parameters == nullptr ||
                     (parameters->numExecAffinityParams == 0 && parameters->cigParams == nullptr);
  return plain ? Create(context, flags, device) : CUDA_ERROR_NOT_SUPPORTED;
}

// Programs that were built for CUDA 12 call this; cuda.h of 13 no longer declares it.
extern "C" __attribute__((visibility("default"))) CUresult cuCtxCreate_v2(CUcontext* context,
                                                                          unsigned int flags,
                                                                          CUdevice device) {
  return Create(context, flags, device);
}

CUresult cuCtxDestroy(CUcontext context) {
  return WithMachine([&](Machine& machine) {
    Context* ending = nullptr;
    const Result found = machine.contexts.Find(context, &ending);
    if (found == Result::kSuccess && !ending->primary)
      TellContext(machine, MEMTRACE_CARD_CONTEXT_ENDS, *ending);
    const Result result = machine.contexts.Destroy(context);
    if (result == Result::kSuccess) machine.EndContext(*ending);
    return result;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return WithDevice(device, [&](Machine& machine) {
    if (context == nullptr) return Result::kInvalidValue;
    Context* retained = nullptr;
    const bool existed = machine.contexts.IsActive(device);
    const Result result = machine.contexts.Retain(device, &retained);
    if (result != Result::kSuccess) return result;
    *context = ToHandle(retained);
    if (!existed) TellContext(machine, MEMTRACE_CARD_CONTEXT_MADE, *retained);
    return result;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return WithDevice(device, [&](Machine& machine) {
    if (machine.contexts.References(device) == 1)
      TellContext(machine, MEMTRACE_CARD_CONTEXT_ENDS, *machine.contexts.Owner(0, device));
    Context* ended = nullptr;
    const Result result = machine.contexts.Release(device, &ended);
    if (ended != nullptr) machine.EndContext(*ended);
    return result;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  return WithDevice(device, [&](Machine& machine) {
    if (flags == nullptr || active == nullptr) return Result::kInvalidValue;
    *flags = 0;
    *active = machine.contexts.IsActive(device) ? 1 : 0;
    return Result::kSuccess;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return WithMachine([&](Machine& machine) { return machine.contexts.SetCurrent(context); });
}

CUresult cuCtxPushCurrent(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return WithMachine([&](Machine& machine) { return machine.contexts.Push(context); });
}

CUresult cuCtxPopCurrent(CUcontext* context) {
  return WithMachine([&](Machine&) {
    Context* popped = nullptr;
    const Result result = Contexts::Pop(&popped);
    if (result == Result::kSuccess && context != nullptr) *context = ToHandle(popped);
    return result;
  });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return WithMachine([&](Machine&) {
    if (context == nullptr) return Result::kInvalidValue;
    *context = ToHandle(Contexts::Current());
    return Result::kSuccess;
  });
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  return ReadFromContext(context, id, [](const Context& of) { return of.id; });
}

CUresult cuCtxGetFlags(unsigned int* flags) {
  return ReadFromContext(nullptr, flags, [](const Context& of) { return of.flags; });
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int* version) {
  return ReadFromContext(context, version, [](const Context&) { return kApiVersion; });
}
