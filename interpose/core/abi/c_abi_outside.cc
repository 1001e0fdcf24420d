// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace.h for memory that the program takes from the driver itself.
#include <algorithm>

#include "interpose/core/abi/outside_growth.h"
#include "interpose/core/abi/source_call.h"
#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/call_stacks.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/process.h"
#include "interpose/core/program_scopes.h"

namespace memtrace {
namespace {

bool IsOutsideRecorded() {
  return !SourceCall::IsRunning() && Process::Get().recorder() != nullptr &&
         !Process::Get().cards().is_forked();
}

OutsideBlock FromAbi(const memtrace_outside& memory) {
  const auto kind = static_cast<trace::OutsideKind>(memory.kind);
  return {.kind = kind,
          .device = memory.device,
          .address = memory.address,
          .bytes = memory.bytes,
          .stream = memory.stream,
          .context = kind == trace::OutsideKind::kHost ? CaptureHostContext(memory.caller)
                                                       : CaptureNativeContext(memory.caller)};
}

memtrace_outside OutsideToAbi(const OutsideBlock& block) {
  return {.size = sizeof(memtrace_outside),
          .kind = static_cast<int32_t>(block.kind),
          .device = block.device,
          .address = block.address,
          .bytes = block.bytes,
          .stream = block.stream,
          .caller = nullptr};
}

void Take(const memtrace_outside& memory) {
  if (!IsOutsideRecorded()) return;
  const OutsideBlock block = FromAbi(memory);
  Process::Get().outside().Taken(block);
  const bool is_observed = Process::Get().cards().observed(block.device) != nullptr;
  if (IsOnCard(block.kind) && !is_observed) SampleIfOutsideGrew(block.device);
}

// A refusal is not yet a failure of torch's own allocator, which then releases its cached memory
// and tries again. It reports an out-of-memory itself when it gives up.
void NoteFailure(const memtrace_outside& wanted) {
  Process& process = Process::Get();
  if (!IsOutsideRecorded()) return;
  const bool is_observed = process.cards().observed(wanted.device) != nullptr;
  if (is_observed && IsCalledByTorchAllocator(wanted.caller)) return;
  OutOfMemoryEvent event;
  event.device = DeviceIndex{wanted.device};
  event.stream = StreamId{wanted.stream};
  event.requested = event.allocated = wanted.bytes;
  event.limit = ~Bytes{0};
  event.context = CaptureNativeContext(wanted.caller);
  if (!process.notes().FillInCard(event)) return;
  event.obtainable = std::min(event.requested, event.device_free);
  static_cast<void>(process.notes().OutOfMemory(event));
}

}  // namespace
}  // namespace memtrace

using memtrace::Contain;
using memtrace::Process;

extern "C" {

uint64_t memtrace_capture_native_context(const void* caller) {
  return Contain(uint64_t{0},
                 [&] { return static_cast<uint64_t>(memtrace::CaptureNativeContext(caller)); });
}

void memtrace_outside_allocated(const memtrace_outside* memory) {
  if (!memtrace::HasSize(memory)) return;
  Contain([&] { memtrace::Take(memtrace::ReadCommonPart(memory)); });
}

int memtrace_outside_freed(uint64_t address, memtrace_outside* was) {
  return Contain(0, [&] {
    if (!memtrace::IsOutsideRecorded()) return 0;
    const auto block = Process::Get().outside().GivenBack(address);
    if (!block) return 0;
    if (memtrace::HasSize(was)) memtrace::WriteCommonPart(was, memtrace::OutsideToAbi(*block));
    return 1;
  });
}

void memtrace_outside_failed(const memtrace_outside* wanted) {
  if (!memtrace::HasSize(wanted)) return;
  Contain([&] { memtrace::NoteFailure(memtrace::ReadCommonPart(wanted)); });
}

void memtrace_outside_mapped(uint64_t handle, uint64_t address, uint64_t bytes) {
  Contain([&] {
    if (memtrace::IsOutsideRecorded())
      Process::Get().outside().Mapped(handle, memtrace::DeviceAddress{address}, bytes);
  });
}

void memtrace_outside_unmapped(uint64_t address, uint64_t bytes) {
  Contain([&] {
    if (memtrace::IsOutsideRecorded())
      Process::Get().outside().Unmapped(memtrace::DeviceAddress{address}, bytes);
  });
}

void memtrace_outside_retained(uint64_t handle) {
  Contain([&] {
    if (memtrace::IsOutsideRecorded()) Process::Get().outside().Retained(handle);
  });
}

void memtrace_outside_released(uint64_t handle) {
  Contain([&] {
    if (memtrace::IsOutsideRecorded()) Process::Get().outside().Released(handle);
  });
}

void memtrace_outside_reset(int device) {
  Contain([&] {
    if (memtrace::IsOutsideRecorded()) Process::Get().outside().Reset(device);
  });
}

}  // extern "C"
