// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Managed memory. It is memory of the host, and no card is charged for it: which of its pages a
// kernel would have brought to the card depends on kernels, which do not run.
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/driver/telling.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

Result CheckManaged(Machine& machine, CUdeviceptr begin) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
  const auto* pointer = reinterpret_cast<const void*>(begin);
  return machine.managed.Find(pointer) ? Result::kSuccess : Result::kInvalidValue;
}

}  // namespace
}  // namespace memtrace::card

CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned int flags) {
  return WithContext([&](Machine& machine, int device) {
    const Result allowed = machine.captures.CheckUnsafeCall();
    if (allowed != Result::kSuccess) return allowed;
    const bool attached = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST;
    if (pointer == nullptr || bytes == 0 || !attached) return Result::kInvalidValue;
    void* begin = nullptr;
    const Result result = machine.managed.Allocate(bytes, device, &begin, Contexts::Current()->id);
    if (result != Result::kSuccess) return result;
    *pointer = reinterpret_cast<CUdeviceptr>(begin);
    TellAllocated(machine, {.device = device,
                            .address = Address{*pointer},
                            .bytes = bytes,
                            .kind = MEMTRACE_CARD_MANAGED});
    return result;
  });
}

CUresult cuMemPrefetchAsync(CUdeviceptr begin, std::size_t, CUmemLocation, unsigned int flags,
                            CUstream stream) {
  return WithContext([&](Machine& machine, int device) {
    if (flags != 0) return Result::kInvalidValue;
    const Result managed = CheckManaged(machine, begin);
    return managed == Result::kSuccess ? machine.streams.Submit(stream, device) : managed;
  });
}

CUresult cuMemAdvise(CUdeviceptr begin, std::size_t, CUmem_advise, CUmemLocation) {
  return WithContext([&](Machine& machine, int) { return CheckManaged(machine, begin); });
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr begin, std::size_t, unsigned int) {
  return WithContext([&](Machine& machine, int device) {
    const Result managed = CheckManaged(machine, begin);
    return managed == Result::kSuccess ? machine.streams.Submit(stream, device) : managed;
  });
}
