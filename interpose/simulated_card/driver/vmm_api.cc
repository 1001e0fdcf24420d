// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Virtual memory management; the rules are in AddressSpace.
#include "interpose/simulated_card/driver/driver_api.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

bool IsExportable(const CUmemAllocationProp& properties) {
  return properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

bool IsOnHost(const CUmemLocation& location) {
  return location.type == CU_MEM_LOCATION_TYPE_HOST ||
         location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
         location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
}

// Accepts memory of the host, which has one node, if it is not exportable.
Result CheckHostProperties(Machine& machine, const CUmemAllocationProp& properties) {
  const CUmemLocation& location = properties.location;
  if (machine.physical.host_located().limit == 0) return Result::kNotSupported;
  if (location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA && location.id != 0)
    return Result::kInvalidDevice;
  const bool is_plain = properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE &&
                        properties.allocFlags.gpuDirectRDMACapable == 0;
  return is_plain ? Result::kSuccess : Result::kNotSupported;
}

// Accepts memory of a card, exportable at most as a file descriptor, or of the host.
Result CheckProperties(Machine& machine, const CUmemAllocationProp* properties) {
  if (properties == nullptr || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return Result::kInvalidValue;
  if (IsOnHost(properties->location)) return CheckHostProperties(machine, *properties);
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return Result::kNotSupported;
  const bool plain =
      properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE || IsExportable(*properties);
  return plain ? Result::kSuccess : Result::kNotSupported;
}

// True for memory of cudaMalloc, to which cuMem* does not apply.
bool BelongsToHeap(Machine& machine, Address address) {
  const auto mapped = machine.space.Find(address);
  return mapped.has_value() && mapped->kind != ChargeKind::kVmm &&
         mapped->kind != ChargeKind::kHost;
}

// Returns the card that uses the memory: for the host's, the current one.
int UserOf(const CUmemLocation& location) {
  if (!IsOnHost(location)) return location.id;
  const Context* current = Contexts::Current();
  return current == nullptr ? 0 : current->device;
}

// Does not wait for work that uses the memory; machine.uses notices it.
Result Unmap(Machine& machine, Address begin, std::size_t bytes) {
  if (BelongsToHeap(machine, begin)) return Result::kInvalidValue;
  const std::vector<MappedRange> mappings = machine.space.MappingsIn(begin, bytes);
  const Result result = machine.space.Unmap(begin, bytes);
  if (result == Result::kSuccess) machine.uses.Unmapped(mappings, "cuMemUnmap");
  return result;
}

Result ToAccess(CUmemAccess_flags flags, Access* access) {
  switch (flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
      *access = Access::kNone;
      return Result::kSuccess;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
      *access = Access::kRead;
      return Result::kSuccess;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
      *access = Access::kReadWrite;
      return Result::kSuccess;
    default:
      return Result::kInvalidValue;
  }
}

CUmemAccess_flags ToFlags(Access access) {
  return access == Access::kNone   ? CU_MEM_ACCESS_FLAGS_PROT_NONE
         : access == Access::kRead ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                   : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

// All descriptors are checked before any takes effect.
Result SetAccess(Machine& machine, Address begin, std::size_t bytes,
                 const CUmemAccessDesc* descriptors, std::size_t count) {
  if (descriptors == nullptr || count == 0 || BelongsToHeap(machine, begin))
    return Result::kInvalidValue;
  Access access = Access::kNone;
  for (std::size_t i = 0; i < count; ++i) {
    if (descriptors[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE) return Result::kNotSupported;
    if (!machine.HasDevice(descriptors[i].location.id)) return Result::kInvalidDevice;
    if (ToAccess(descriptors[i].flags, &access) != Result::kSuccess) return Result::kInvalidValue;
  }
  Result result = Result::kSuccess;
  for (std::size_t i = 0; i < count && result == Result::kSuccess; ++i) {
    ToAccess(descriptors[i].flags, &access);
    result = machine.space.SetAccess(begin, bytes, descriptors[i].location.id, access);
  }
  if (result == Result::kSuccess && machine.progress.Defers())
    machine.uses.MadeAccessible(machine.space.MappingsIn(begin, bytes));
  return result;
}

}  // namespace
}  // namespace memtrace::card

CUresult cuMemGetAllocationGranularity(std::size_t* granularity,
                                       const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  return WithMachine([&](Machine& machine) {
    const Result valid = CheckProperties(machine, properties);
    if (granularity == nullptr) return Result::kInvalidValue;
    if (valid != Result::kSuccess)
      return IsOnHost(properties->location) ? valid : Result::kInvalidValue;
    if (!machine.HasDevice(UserOf(properties->location))) return Result::kInvalidDevice;
    *granularity = kGranularity;
    return Result::kSuccess;
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* begin, std::size_t bytes, std::size_t alignment,
                             CUdeviceptr hint, unsigned long long flags) {
  return WithMachine([&](Machine& machine) {
    WatchedCalls::NoteBytes(bytes);
    if (begin == nullptr || flags != 0) return Result::kInvalidValue;
    Address reserved;
    const Result result = machine.space.Reserve(bytes, alignment, Address{hint}, &reserved);
    if (result == Result::kSuccess) *begin = reserved.value();
    return result;
  });
}

CUresult cuMemAddressFree(CUdeviceptr begin, std::size_t bytes) {
  return WithMachine([&](Machine& machine) {
    WatchedCalls::NoteBytes(bytes);
    return machine.space.FreeReservation(Address{begin}, bytes);
  });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return WithMachine([&](Machine& machine) {
    WatchedCalls::NoteBytes(bytes);
    if (handle == nullptr || flags != 0) return Result::kInvalidValue;
    const Result valid = CheckProperties(machine, properties);
    if (valid != Result::kSuccess) return valid;
    const CUmemLocation& location = properties->location;
    const ChargeKind kind = IsOnHost(location) ? ChargeKind::kHost : ChargeKind::kVmm;
    HandleId created = 0;
    const Result result =
        machine.physical.Create(UserOf(location), bytes, kind, &created, IsExportable(*properties));
    if (result == Result::kSuccess) *handle = created;
    return result;
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return WithMachine([&](Machine& machine) {
    const Result result = machine.physical.Release(handle);
    if (result == Result::kSuccess) machine.uses.Released(handle, "cuMemRelease");
    return result;
  });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  return WithMachine([&](Machine& machine) {
    const Address begin{reinterpret_cast<std::uintptr_t>(address)};
    if (handle == nullptr || BelongsToHeap(machine, begin)) return Result::kInvalidValue;
    HandleId retained = 0;
    const Result result = machine.space.RetainAt(begin, &retained);
    if (result == Result::kSuccess) *handle = retained;
    return result;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return WithMachine([&](Machine& machine) {
    int device = 0;
    ChargeKind kind = ChargeKind::kVmm;
    const Result result = machine.physical.DeviceOf(handle, &device, &kind);
    if (properties == nullptr || result != Result::kSuccess) return Result::kInvalidValue;
    *properties = {};
    properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties->location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
    if (kind == ChargeKind::kHost)
      properties->location = {.type = CU_MEM_LOCATION_TYPE_HOST_NUMA, .id = 0};
    return Result::kSuccess;
  });
}

CUresult cuMemMap(CUdeviceptr begin, std::size_t bytes, std::size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return WithMachine([&](Machine& machine) {
    WatchedCalls::NoteBytes(bytes);
    if (flags != 0) return Result::kInvalidValue;
    const Result result = machine.space.Map(Address{begin}, bytes, offset, handle);
    if (result == Result::kSuccess) machine.uses.Mapped(handle, Address{begin}, "cuMemMap");
    return result;
  });
}

CUresult cuMemUnmap(CUdeviceptr begin, std::size_t bytes) {
  return WithMachine([&](Machine& machine) {
    WatchedCalls::NoteBytes(bytes);
    return Unmap(machine, Address{begin}, bytes);
  });
}

CUresult cuMemSetAccess(CUdeviceptr begin, std::size_t bytes, const CUmemAccessDesc* descriptors,
                        std::size_t count) {
  return WithMachine([&](Machine& machine) {
    WatchedCalls::NoteBytes(bytes);
    return SetAccess(machine, Address{begin}, bytes, descriptors, count);
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr pointer) {
  return WithMachine([&](Machine& machine) {
    if (flags == nullptr || location == nullptr) return Result::kInvalidValue;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) return Result::kNotSupported;
    Access access = Access::kNone;
    const Result result = machine.space.GetAccess(Address{pointer}, location->id, &access);
    if (result == Result::kSuccess) *flags = ToFlags(access);
    return result;
  });
}
