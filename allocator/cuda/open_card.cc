// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/cuda/open_card.h"

#include <cstring>

#include "allocator/cuda/cuda_chunk_copies.h"
#include "allocator/cuda/cuda_stream_events.h"
#include "allocator/cuda/cuda_vmm.h"
#include "allocator/cuda/driver.h"
#include "base/status_macros.h"

namespace memtrace {

absl::StatusOr<OpenedCard> OpenCard(DeviceIndex device) {
  auto vmm = CudaVmm::Open(device);
  if (!vmm.ok()) return vmm.status();
  auto events = CudaStreamEvents::Open(device);
  if (!events.ok()) return events.status();
  auto copies = CudaChunkCopies::Open(device);
  if (!copies.ok()) return copies.status();
  CaptureGraphs* captures = events->get();
  return OpenedCard{.vmm = *std::move(vmm),
                    .events = *std::move(events),
                    .captures = captures,
                    .copies = *std::move(copies)};
}

absl::StatusOr<CardUuid> UuidOf(DeviceIndex device) {
  MEMTRACE_ASSIGN_OR_RETURN(const Driver* const driver, Driver::Get());
  CUdevice handle = 0;
  CUuuid uuid{};
  MEMTRACE_RETURN_IF_ERROR(
      driver->ToStatus("cuDeviceGet", driver->DeviceGet(&handle, static_cast<int>(device))));
  MEMTRACE_RETURN_IF_ERROR(
      driver->ToStatus("cuDeviceGetUuid", driver->DeviceGetUuid(&uuid, handle)));
  CardUuid bytes;
  std::memcpy(bytes.data(), uuid.bytes, bytes.size());
  return bytes;
}

bool IsInDriverCall() { return CallScope::IsOpen(); }

bool HasContext(DeviceIndex device) {
  const absl::StatusOr<const Driver*> driver = Driver::Get();
  if (!driver.ok()) return false;
  const auto context = PrimaryContext::Of(**driver, static_cast<int>(device));
  return context.ok() && context->is_active();
}

}  // namespace memtrace
