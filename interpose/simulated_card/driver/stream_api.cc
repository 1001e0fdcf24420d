// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Streams and events.
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/driver/telling.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

Result Record(Machine& machine, int device, CUstream stream, CUevent event, bool external) {
  const Result result = machine.events.Record(event, stream, device, external);
  if (result == Result::kSuccess)
    TellWait(machine, MEMTRACE_CARD_EVENT_RECORDED, device, {.stream = stream, .event = event});
  return result;
}

}  // namespace
}  // namespace memtrace::card

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return WithContext([&](Machine& machine, int device) {
    if (stream == nullptr || flags > CU_STREAM_NON_BLOCKING) return Result::kInvalidValue;
    if (!machine.CardAt(device).AddStream()) return Result::kOutOfMemory;
    *stream = reinterpret_cast<CUstream>(machine.stream_table.Create(device, flags, priority));
    TellStream(machine, MEMTRACE_CARD_STREAM_MADE, device, *stream);
    return Result::kSuccess;
  });
}

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy(CUstream stream) {
  return WithMachine([&](Machine& machine) {
    TellStream(machine, MEMTRACE_CARD_STREAM_ENDS, 0, stream);
    Stream ending;
    const bool is_known = machine.stream_table.Describe(stream, 0, &ending) == Result::kSuccess;
    const Result result = machine.streams.Destroy(stream);
    if (is_known && result == Result::kSuccess) machine.CardAt(ending.device).RemoveStream();
    return result;
  });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return WithContext([&](Machine& machine, int device) {
    Stream described;
    const Result result = machine.stream_table.Describe(stream, device, &described);
    if (priority == nullptr) return Result::kInvalidValue;
    if (result == Result::kSuccess) *priority = described.priority;
    return result;
  });
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags) {
  return WithContext([&](Machine& machine, int device) {
    Stream described;
    const Result result = machine.stream_table.Describe(stream, device, &described);
    if (flags == nullptr) return Result::kInvalidValue;
    if (result == Result::kSuccess) *flags = described.flags;
    return result;
  });
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return WithContext([&](Machine& machine, int device) {
    Stream described;
    const Result result = machine.stream_table.Describe(stream, device, &described);
    if (id == nullptr) return Result::kInvalidValue;
    if (result == Result::kSuccess) *id = described.id;
    return result;
  });
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* stream_device) {
  return WithContext([&](Machine& machine, int device) {
    Stream described;
    const Result result = machine.stream_table.Describe(stream, device, &described);
    if (stream_device == nullptr) return Result::kInvalidValue;
    if (result == Result::kSuccess) *stream_device = described.device;
    return result;
  });
}

CUresult cuStreamQuery(CUstream stream) {
  return WithContext(
      [&](Machine& machine, int device) { return machine.streams.Query(stream, device); });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return WithContext([&](Machine& machine, int device) {
    const Result result = machine.streams.Synchronize(stream, device);
    if (result != Result::kSuccess) return result;
    machine.pools.TrimToThresholds();
    TellWait(machine, MEMTRACE_CARD_STREAM_WAITED, device, {.stream = stream});
    return result;
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return WithContext([&](Machine& machine, int device) {
    const bool external = (flags & CU_EVENT_WAIT_EXTERNAL) != 0;
    const Result result = machine.events.Wait(stream, device, event, external);
    if (result == Result::kSuccess)
      TellWait(machine, MEMTRACE_CARD_STREAM_WAITS, device, {.stream = stream, .event = event});
    return result;
  });
}

// A captured function is called at each launch of the graph.
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* argument) {
  return WithContext([&](Machine& machine, int device) {
    if (function == nullptr) return Result::kInvalidValue;
    return machine.streams.SubmitCall(stream, device, [=] { function(argument); });
  });
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* argument,
                             unsigned int flags) {
  return WithContext([&](Machine& machine, int device) {
    if (callback == nullptr || flags != 0) return Result::kInvalidValue;
    // According to cuda.h, this call must not be captured.
    CaptureStatus status = CaptureStatus::kNone;
    const Result found = machine.captures.StateOf(stream, device, &status);
    if (found != Result::kSuccess) return found;
    if (status != CaptureStatus::kNone) return Result::kCaptureUnsupported;
    return machine.streams.SubmitCall(stream, device,
                                      [=] { callback(stream, CUDA_SUCCESS, argument); });
  });
}

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return WithContext([&](Machine& machine, int) {
    // According to cuda.h, an event for other processes cannot measure time.
    const bool may_time = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    if (event == nullptr || ((flags & CU_EVENT_INTERPROCESS) != 0 && may_time))
      return Result::kInvalidValue;
    *event = reinterpret_cast<CUevent>(machine.events.Create(flags));
    return Result::kSuccess;
  });
}

CUresult cuEventDestroy(CUevent event) {
  return WithMachine([&](Machine& machine) { return machine.events.Destroy(event); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return WithContext(
      [&](Machine& machine, int device) { return Record(machine, device, stream, event, false); });
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
  return WithContext([&](Machine& machine, int device) {
    return Record(machine, device, stream, event, (flags & CU_EVENT_RECORD_EXTERNAL) != 0);
  });
}

CUresult cuEventQuery(CUevent event) {
  return WithMachine([&](Machine& machine) { return machine.events.Query(event); });
}

CUresult cuEventSynchronize(CUevent event) {
  return WithMachine([&](Machine& machine) {
    const Result result = machine.events.Synchronize(event);
    if (result != Result::kSuccess) return result;
    machine.pools.TrimToThresholds();
    const Context* current = Contexts::Current();
    const int device = current == nullptr ? 0 : current->device;
    TellWait(machine, MEMTRACE_CARD_EVENT_WAITED, device, {.event = event});
    return result;
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return WithMachine([&](Machine& machine) {
    if (milliseconds == nullptr) return Result::kInvalidValue;
    return machine.events.ElapsedMilliseconds(start, end, milliseconds);
  });
}
