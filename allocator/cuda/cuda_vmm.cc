// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/cuda/cuda_vmm.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

absl::StatusOr<bool> Supports(const PrimaryContext& context, CUdevice_attribute attribute) {
  const Driver& driver = context.driver();
  int value = 0;
  MEMTRACE_RETURN_IF_ERROR(driver.ToStatus(
      "cuDeviceGetAttribute", driver.DeviceGetAttribute(&value, attribute, context.device())));
  return value != 0;
}

// Describes plain memory of this card which, if the card supports it, network cards and other
// processes can access, as torch also requests.
absl::StatusOr<CUmemAllocationProp> Properties(const PrimaryContext& context) {
  MEMTRACE_ASSIGN_OR_RETURN(
      const auto rdma,
      Supports(context, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED));
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = context.device();
  properties.allocFlags.gpuDirectRDMACapable = rdma ? 1 : 0;
  MEMTRACE_ASSIGN_OR_RETURN(
      const auto descriptors,
      Supports(context, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED));
  if (descriptors) properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

absl::StatusOr<CUmemGenericAllocationHandle> RetainIn(const Driver& driver, DeviceAddress address) {
  CUmemGenericAllocationHandle handle = 0;
  MEMTRACE_RETURN_IF_ERROR(driver.ToStatus(
      "cuMemRetainAllocationHandle",
      // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver wants its address as a pointer
      driver.MemRetainAllocationHandle(&handle, reinterpret_cast<void*>(address.value()))));
  return handle;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaVmm>> CudaVmm::Open(DeviceIndex device) {
  MEMTRACE_ASSIGN_OR_RETURN(const Driver* const driver, Driver::Get());
  MEMTRACE_ASSIGN_OR_RETURN(auto context, PrimaryContext::Of(*driver, static_cast<int>(device)));
  MEMTRACE_ASSIGN_OR_RETURN(
      const auto can_map,
      Supports(context, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED));
  if (!can_map) {
    return absl::UnimplementedError(
        absl::StrCat("card ", static_cast<int>(device), " has no virtual memory management"));
  }
  MEMTRACE_ASSIGN_OR_RETURN(const auto properties, Properties(context));
  size_t granularity = 0;
  MEMTRACE_RETURN_IF_ERROR(
      driver->ToStatus("cuMemGetAllocationGranularity",
                       driver->MemGetAllocationGranularity(&granularity, &properties,
                                                           CU_MEM_ALLOC_GRANULARITY_MINIMUM)));
  return std::unique_ptr<CudaVmm>(new CudaVmm(std::move(context), properties, granularity));
}

absl::StatusOr<DeviceAddress> CudaVmm::Reserve(Bytes size) {
  const CallScope scope(context_);
  CUdeviceptr address = 0;
  MEMTRACE_RETURN_IF_ERROR(scope.driver().ToStatus(
      "cuMemAddressReserve",
      scope.driver().MemAddressReserve(&address, size, granularity_, /*addr=*/0, /*flags=*/0)));
  return DeviceAddress{address};
}

absl::Status CudaVmm::ReleaseReservation(DeviceAddress address, Bytes size) {
  const CallScope scope(context_);
  return scope.driver().ToStatus("cuMemAddressFree",
                                 scope.driver().MemAddressFree(address.value(), size));
}

absl::StatusOr<ChunkHandle> CudaVmm::Create(Bytes size) {
  const CallScope scope(context_);
  CUmemGenericAllocationHandle handle = 0;
  MEMTRACE_RETURN_IF_ERROR(scope.driver().ToStatus(
      "cuMemCreate", scope.driver().MemCreate(&handle, size, &properties_, /*flags=*/0)));
  return ChunkHandle{handle};
}

// The memory is of the host's node that is nearest to the card.
absl::StatusOr<ChunkHandle> CudaVmm::CreateOnHost(Bytes size) {
  const CallScope scope(context_);
  int node = 0;
  const CUresult asked =
      scope.driver().DeviceGetAttribute(&node, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, context_.device());
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
  properties.location.id = asked == CUDA_SUCCESS ? std::max(node, 0) : 0;  // -1: one node
  CUmemGenericAllocationHandle handle = 0;
  const CUresult result = scope.driver().MemCreate(&handle, size, &properties, /*flags=*/0);
  if (result == CUDA_ERROR_NOT_SUPPORTED)
    return absl::UnimplementedError("the driver has no memory of the host at a card's addresses");
  MEMTRACE_RETURN_IF_ERROR(scope.driver().ToStatus("cuMemCreate", result));
  return ChunkHandle{handle};
}

absl::Status CudaVmm::Release(ChunkHandle chunk) {
  const CallScope scope(context_);
  return scope.driver().ToStatus("cuMemRelease",
                                 scope.driver().MemRelease(static_cast<uint64_t>(chunk)));
}

absl::StatusOr<ChunkHandle> CudaVmm::Retain(DeviceAddress address) {
  const CallScope scope(context_);
  MEMTRACE_ASSIGN_OR_RETURN(const auto handle, RetainIn(scope.driver(), address));
  return ChunkHandle{handle};
}

absl::Status CudaVmm::Map(DeviceAddress address, Bytes size, ChunkHandle chunk) {
  const CallScope scope(context_);
  return scope.driver().ToStatus(
      "cuMemMap",
      scope.driver().MemMap(address.value(), size, /*offset=*/0, static_cast<uint64_t>(chunk),
                            /*flags=*/0));
}

absl::Status CudaVmm::GiveAccess(DeviceAddress address, Bytes size) {
  const CallScope scope(context_);
  return SetAccess(scope.driver(), address, size);
}

absl::Status CudaVmm::Unmap(DeviceAddress address, Bytes size) {
  const CallScope scope(context_);
  return scope.driver().ToStatus("cuMemUnmap", scope.driver().MemUnmap(address.value(), size));
}

absl::Status CudaVmm::SetAccess(const Driver& driver, DeviceAddress address, Bytes size) const {
  return driver.ToStatus(
      "cuMemSetAccess", driver.MemSetAccess(address.value(), size, access_.data(), access_.size()));
}

absl::StatusOr<UniqueDescriptor> CudaVmm::Share(DeviceAddress address) {
  if (properties_.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE) {
    return absl::UnimplementedError("this card's memory cannot be shared with other processes");
  }
  const CallScope scope(context_);
  const Driver& driver = scope.driver();
  MEMTRACE_ASSIGN_OR_RETURN(const auto handle, RetainIn(driver, address));
  int descriptor = -1;
  absl::Status status = driver.ToStatus(
      "cuMemExportToShareableHandle",
      driver.MemExportToShareableHandle(&descriptor, handle,
                                        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, /*flags=*/0));
  status.Update(driver.ToStatus("cuMemRelease", driver.MemRelease(handle)));
  if (!status.ok()) return status;
  return UniqueDescriptor(descriptor);
}

absl::Status CudaVmm::Admit(DeviceIndex peer, const std::vector<MappedChunk>& mapped) {
  const auto is_its = [&](const CUmemAccessDesc& access) {
    return access.location.id == static_cast<int>(peer);
  };
  if (std::any_of(access_.begin(), access_.end(), is_its)) return absl::OkStatus();
  access_.push_back(access_.front());
  access_.back().location.id = static_cast<int>(peer);
  const CallScope scope(context_);
  absl::Status status;
  for (const MappedChunk& chunk : mapped) {
    status.Update(SetAccess(scope.driver(), chunk.address, chunk.size));
  }
  if (!status.ok()) access_.pop_back();
  return status;
}

absl::StatusOr<DeviceMemory> CudaVmm::MemoryInfo() {
  const CallScope scope(context_);
  size_t free = 0;
  size_t total = 0;
  MEMTRACE_RETURN_IF_ERROR(
      scope.driver().ToStatus("cuMemGetInfo", scope.driver().MemGetInfo(&free, &total)));
  return DeviceMemory{free, total};
}

}  // namespace memtrace
