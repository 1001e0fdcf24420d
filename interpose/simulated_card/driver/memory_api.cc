// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Device and pinned memory, and what a pointer is.
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/driver/telling.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// A capture forbids some calls, such as cudaMalloc and cudaFree.
template <typename Body>
CUresult WithContextOutsideCapture(Body body, const char* call = __builtin_FUNCTION()) {
  return WithContext(
      [&](Machine& machine, int device) {
        const Result allowed = machine.captures.CheckUnsafeCall();
        return allowed == Result::kSuccess ? body(machine, device) : allowed;
      },
      call);
}

// Frees pinned or managed memory.
Result FreeOnHost(Machine& machine, HostMemory& memory, void* pointer,
                  memtrace_card_memory_kind kind) {
  const auto range = memory.Find(pointer);
  const Result result = memory.Free(pointer);
  if (result == Result::kSuccess && range.has_value()) {
    TellReleased(machine, {.device = range->device,
                           .address = Address{range->begin},
                           .bytes = range->bytes,
                           .kind = kind});
  }
  return result;
}

// According to cuda.h, cuMemFree also takes stream-ordered and managed memory and that of graphs.
Result FreeOther(Machine& machine, Address begin) {
  MemoryPools::Block block;
  if (machine.pools.Free(begin, &block) == Result::kSuccess) {
    TellReleased(
        machine,
        {.device = block.device, .address = begin, .bytes = block.bytes, .pool = block.pool});
    return Result::kSuccess;
  }
  GraphBlockPointer of_graph;
  if (machine.graph_memory.FreeOutside(begin, &of_graph) == Result::kSuccess)
    return Result::kSuccess;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
  auto* on_host = reinterpret_cast<void*>(begin.value());
  return FreeOnHost(machine, machine.managed, on_host, MEMTRACE_CARD_MANAGED);
}

// cudaFree waits for all work of the card that owns the memory.
Result FreeWhenIdle(Machine& machine, Address begin) {
  const auto mapped = machine.space.Find(begin);
  const auto block = machine.heap.Find(begin);
  if (!mapped.has_value() || !block.has_value()) return FreeOther(machine, begin);
  Result result = machine.streams.SynchronizeDevice(mapped->device);
  if (result == Result::kSuccess) result = machine.heap.Free(begin);
  if (result != Result::kSuccess) return result;
  machine.uses.Freed(begin, block->bytes, "cuMemFree");
  TellReleased(machine, {.device = mapped->device, .address = begin, .bytes = block->bytes});
  return result;
}

// The facts that cuPointerGetAttribute can tell of one address.
struct PointerFacts {
  bool known = false;
  bool on_card = false;
  bool managed = false;
  int device = 0;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  OwnerId owner = 0;
};

PointerFacts Explore(Machine& machine, std::uint64_t pointer) {
  const Address address{pointer};
  if (const auto mapped = machine.space.Find(address)) {
    PointerFacts facts{true, true, false, mapped->device, mapped->begin.value(), mapped->bytes, 0};
    if (const auto block = machine.heap.Find(address)) {
      facts.begin = block->begin.value();
      facts.bytes = block->bytes;
      facts.owner = block->owner;
    }
    return facts;
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
  const auto* on_host = reinterpret_cast<const void*>(pointer);
  if (const auto pinned = machine.host_memory.Find(on_host))
    return {true, false, false, pinned->device, pinned->begin, pinned->bytes, pinned->owner};
  if (const auto managed = machine.managed.Find(on_host))
    return {true, false, true, managed->device, managed->begin, managed->bytes, managed->owner};
  return {};
}

Result AnswerAttribute(Machine& machine, const PointerFacts& facts, CUpointer_attribute attribute,
                       std::uint64_t pointer, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      Context* context = machine.contexts.Owner(facts.owner, facts.device);
      return Answer<CUcontext>(data, reinterpret_cast<CUcontext>(context));
    }
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return Answer<unsigned>(data, facts.on_card ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return Answer<CUdeviceptr>(data, pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (facts.on_card) return Result::kInvalidValue;
      // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
      return Answer<void*>(data, reinterpret_cast<void*>(pointer));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return Answer<int>(data, facts.device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return Answer<CUdeviceptr>(data, facts.begin);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return Answer<std::size_t>(data, facts.bytes);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return Answer<bool>(data, facts.managed);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return Answer<bool>(data, true);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return Answer<bool>(data, machine.heap.Find(Address{pointer}).has_value());
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return Answer<unsigned long long>(data, facts.begin);
    default:
      return Result::kNotSupported;
  }
}

}  // namespace
}  // namespace memtrace::card

CUresult cuMemGetInfo(std::size_t* free, std::size_t* total) {
  return WithContext([&](Machine& machine, int device) {
    if (free == nullptr || total == nullptr) return Result::kInvalidValue;
    const Ledger ledger = machine.CardAt(device).CurrentLedger();
    *free = ledger.free;
    *total = ledger.total;
    return Result::kSuccess;
  });
}

CUresult cuMemAlloc(CUdeviceptr* pointer, std::size_t bytes) {
  return WithContextOutsideCapture([&](Machine& machine, int device) {
    WatchedCalls::NoteBytes(bytes);
    if (pointer == nullptr || bytes == 0) return Result::kInvalidValue;
    Address begin;
    const Result result = machine.heap.Allocate(device, bytes, &begin, Contexts::Current()->id);
    if (result != Result::kSuccess) return result;
    *pointer = begin.value();
    TellAllocated(machine, {.device = device, .address = begin, .bytes = bytes});
    return result;
  });
}

CUresult cuMemFree(CUdeviceptr pointer) {
  return WithContextOutsideCapture([&](Machine& machine, int) {
    return pointer == 0 ? Result::kSuccess : FreeWhenIdle(machine, Address{pointer});
  });
}

CUresult cuMemGetAddressRange(CUdeviceptr* base, std::size_t* size, CUdeviceptr pointer) {
  return WithContext([&](Machine& machine, int) {
    const PointerFacts facts = Explore(machine, pointer);
    if (!facts.on_card) return Result::kNotFound;
    if (base != nullptr) *base = facts.begin;
    if (size != nullptr) *size = facts.bytes;
    return Result::kSuccess;
  });
}

CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned int) {
  return WithContextOutsideCapture([&](Machine& machine, int device) {
    WatchedCalls::NoteBytes(bytes);
    if (pointer == nullptr || bytes == 0) return Result::kInvalidValue;
    const Result result =
        machine.host_memory.Allocate(bytes, device, pointer, Contexts::Current()->id);
    if (result != Result::kSuccess) return result;
    TellAllocated(machine, {.device = device,
                            .address = Address{reinterpret_cast<std::uintptr_t>(*pointer)},
                            .bytes = bytes,
                            .kind = MEMTRACE_CARD_PINNED});
    return result;
  });
}

CUresult cuMemAllocHost(void** pointer, std::size_t bytes) {
  return cuMemHostAlloc(pointer, bytes, 0);
}

CUresult cuMemFreeHost(void* pointer) {
  return WithContextOutsideCapture([&](Machine& machine, int device) {
    const Result idle = machine.streams.SynchronizeDevice(device);
    if (idle != Result::kSuccess) return idle;
    return FreeOnHost(machine, machine.host_memory, pointer, MEMTRACE_CARD_PINNED);
  });
}

CUresult cuMemHostRegister(void* pointer, std::size_t bytes, unsigned int) {
  return WithContextOutsideCapture([&](Machine& machine, int device) {
    return machine.host_memory.Register(pointer, bytes, device);
  });
}

CUresult cuMemHostUnregister(void* pointer) {
  return WithContextOutsideCapture(
      [&](Machine& machine, int) { return machine.host_memory.Unregister(pointer); });
}

// With unified addressing, the address is the same on both sides.
CUresult cuMemHostGetDevicePointer(CUdeviceptr* device_pointer, void* pointer, unsigned int) {
  return WithContext([&](Machine& machine, int) {
    if (device_pointer == nullptr || !machine.host_memory.Find(pointer))
      return Result::kInvalidValue;
    *device_pointer = reinterpret_cast<CUdeviceptr>(pointer);
    return Result::kSuccess;
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr pointer) {
  return WithContext([&](Machine& machine, int) {
    const PointerFacts facts = Explore(machine, pointer);
    if (data == nullptr || !facts.known) return Result::kInvalidValue;
    return AnswerAttribute(machine, facts, attribute, pointer, data);
  });
}
