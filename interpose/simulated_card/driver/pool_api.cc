// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Stream-ordered memory; the rules are in MemoryPools.
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/driver/graph_memory.h"
#include "interpose/simulated_card/driver/telling.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

CUmemoryPool ToHandle(MemoryPool* pool) { return reinterpret_cast<CUmemoryPool>(pool); }

// Enters the stream, unless it is capturing.
Result EnterOrCapture(Machine& machine, int device, CUstream stream, bool* is_capturing) {
  CaptureStatus status = CaptureStatus::kNone;
  const Result result = machine.captures.StateOf(stream, device, &status);
  if (result != Result::kSuccess) return result;
  *is_capturing = status != CaptureStatus::kNone;
  return *is_capturing ? Result::kSuccess : machine.streams.Submit(stream, device);
}

CUresult Allocate(CUdeviceptr* pointer, std::size_t bytes, MemoryPool* pool, CUstream stream,
                  const char* call = __builtin_FUNCTION()) {
  const auto allocate = [&](Machine& machine, int device) {
    if (pointer == nullptr) return Result::kInvalidValue;
    bool is_capturing = false;
    const Result entered = EnterOrCapture(machine, device, stream, &is_capturing);
    if (entered != Result::kSuccess) return entered;
    *pointer = 0;
    if (bytes == 0) return Result::kSuccess;
    Address begin;
    if (is_capturing) {
      // Memory in a graph has a device and no pool, as in cuGraphAddMemAllocNode.
      const Result captured = AllocateInCapture(machine, device, stream, bytes, &begin);
      *pointer = begin.value();
      return captured;
    }
    const void* from = pool != nullptr ? pool : machine.pools.Current(device);
    const Result result = machine.pools.Allocate(from, bytes, &begin);
    if (result != Result::kSuccess) return result;
    *pointer = begin.value();
    TellAllocated(machine, {.device = device,
                            .address = begin,
                            .bytes = bytes,
                            .stream = stream,
                            .pool = from,
                            .is_async = true});
    return result;
  };
  return WithContext(allocate, call);
}

Result AnswerFigure(const PoolFigures& figures, CUmemPool_attribute attribute, void* value) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return Answer<cuuint64_t>(value, figures.reserved);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return Answer<cuuint64_t>(value, figures.reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return Answer<cuuint64_t>(value, figures.used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return Answer<cuuint64_t>(value, figures.used_high);
    default:
      return Result::kInvalidValue;
  }
}

bool IsReuseFlag(CUmemPool_attribute attribute) {
  return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CUresult GivePool(CUmemoryPool* pool, int device, bool current,
                  const char* call = __builtin_FUNCTION()) {
  const auto give = [&](Machine& machine) {
    if (pool == nullptr) return Result::kInvalidValue;
    *pool = ToHandle(current ? machine.pools.Current(device) : machine.pools.Default(device));
    return Result::kSuccess;
  };
  return WithDevice(device, give, call);
}

bool IsOnCard(const CUmemLocation* location) {
  return location != nullptr && location->type == CU_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace
}  // namespace memtrace::card

CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  return Allocate(pointer, bytes, nullptr, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Allocate(pointer, bytes, reinterpret_cast<MemoryPool*>(pool), stream);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return WithContext([&](Machine& machine, int device) {
    const Address begin{pointer};
    bool is_capturing = false;
    const Result entered = EnterOrCapture(machine, device, stream, &is_capturing);
    if (entered != Result::kSuccess || begin.is_null()) return entered;
    if (is_capturing) return FreeInCapture(machine, device, stream, begin);
    if (GraphBlockPointer freed;
        machine.graph_memory.FreeOutside(begin, &freed) == Result::kSuccess)
      return Result::kSuccess;
    MemoryPools::Block block;
    if (machine.pools.Free(begin, &block) != Result::kSuccess) {
      // According to cuda.h, memory of cudaMalloc may also be freed this way.
      const auto found = machine.heap.Find(begin);
      const Result freed = machine.heap.Free(begin);
      if (freed != Result::kSuccess) return freed;
      block = {.bytes = found->bytes, .device = device};
    }
    TellReleased(machine, {.device = block.device,
                           .address = begin,
                           .bytes = block.bytes,
                           .stream = stream,
                           .pool = block.pool,
                           .is_async = true});
    return Result::kSuccess;
  });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return GivePool(pool, device, false);
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  return GivePool(pool, device, true);
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return WithDevice(device,
                    [&](Machine& machine) { return machine.pools.SetCurrent(device, pool); });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType) {
  return IsOnCard(location) ? GivePool(pool, location->id, false) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType) {
  return IsOnCard(location) ? GivePool(pool, location->id, true) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType, CUmemoryPool pool) {
  return IsOnCard(location) ? cuDeviceSetMemPool(location->id, pool) : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return WithMachine([&](Machine& machine) {
    if (pool == nullptr || properties == nullptr) return Result::kInvalidValue;
    if (properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED || !IsOnCard(&properties->location))
      return Result::kNotSupported;
    if (!machine.HasDevice(properties->location.id)) return Result::kInvalidDevice;
    *pool = ToHandle(machine.pools.Create(properties->location.id));
    return Result::kSuccess;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return WithMachine([&](Machine& machine) { return machine.pools.Destroy(pool); });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
  return WithMachine([&](Machine& machine) { return machine.pools.Trim(pool, keep); });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return WithMachine([&](Machine& machine) {
    if (value == nullptr) return Result::kInvalidValue;
    if (IsReuseFlag(attribute)) {
      return machine.pools.Configure(
          pool, [&](MemoryPool& found) { Answer<int>(value, found.reuse[attribute - 1]); });
    }
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
      return machine.pools.Configure(
          pool, [&](MemoryPool& found) { Answer<cuuint64_t>(value, found.release_threshold); });
    }
    PoolFigures figures;
    const Result result = machine.pools.Figures(pool, &figures);
    return result == Result::kSuccess ? AnswerFigure(figures, attribute, value) : result;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  return WithMachine([&](Machine& machine) {
    if (value == nullptr) return Result::kInvalidValue;
    if (IsReuseFlag(attribute)) {
      const int wanted = *static_cast<const int*>(value);
      return machine.pools.Configure(
          pool, [&](MemoryPool& found) { found.reuse[attribute - 1] = wanted; });
    }
    const cuuint64_t wanted = *static_cast<const cuuint64_t*>(value);
    if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
      return machine.pools.Configure(pool,
                                     [&](MemoryPool& found) { found.release_threshold = wanted; });
    }
    const bool reserved = attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH;
    const bool used = attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    // According to cuda.h, the high marks can be set to zero, which sets them to the current
    // values.
    if ((!reserved && !used) || wanted != 0) return Result::kInvalidValue;
    return machine.pools.ResetHighMarks(pool, reserved, used);
  });
}

// Needs no action: contents are reachable from every card.
CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* descriptors,
                            std::size_t count) {
  return WithMachine([&](Machine& machine) {
    for (std::size_t i = 0; i < count; ++i) {
      if (descriptors == nullptr || !IsOnCard(&descriptors[i].location))
        return Result::kInvalidValue;
      if (!machine.HasDevice(descriptors[i].location.id)) return Result::kInvalidDevice;
    }
    return machine.pools.Configure(pool, [](MemoryPool&) {});
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return WithMachine([&](Machine& machine) {
    if (flags == nullptr || !IsOnCard(location)) return Result::kInvalidValue;
    *flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return machine.pools.Configure(pool, [](MemoryPool&) {});
  });
}
