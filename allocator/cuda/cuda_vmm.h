// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CUDA_CUDA_VMM_H_
#define MEMTRACE_ALLOCATOR_CUDA_CUDA_VMM_H_

#include <cuda.h>

#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/vmm.h"
#include "allocator/cuda/driver.h"
#include "base/units.h"

namespace memtrace {

// Implements Vmm with the CUDA driver. Calls are allowed during graph capture. Thread rule: as Vmm.
class CudaVmm : public Vmm {
 public:
  // kUnavailable without a driver, kUnimplemented if the card cannot map memory.
  static absl::StatusOr<std::unique_ptr<CudaVmm>> Open(DeviceIndex device);

  Bytes granularity() const override { return granularity_; }
  absl::StatusOr<DeviceAddress> Reserve(Bytes size) override;
  absl::Status ReleaseReservation(DeviceAddress address, Bytes size) override;
  absl::StatusOr<ChunkHandle> Create(Bytes size) override;
  absl::Status Release(ChunkHandle chunk) override;
  absl::StatusOr<ChunkHandle> Retain(DeviceAddress address) override;
  absl::Status Map(DeviceAddress address, Bytes size, ChunkHandle chunk) override;
  absl::Status GiveAccess(DeviceAddress address, Bytes size) override;
  absl::Status Unmap(DeviceAddress address, Bytes size) override;
  absl::StatusOr<DeviceMemory> MemoryInfo() override;
  absl::StatusOr<UniqueDescriptor> Share(DeviceAddress address) override;
  absl::Status Admit(DeviceIndex peer, const std::vector<MappedChunk>& mapped) override;

 private:
  CudaVmm(PrimaryContext context, const CUmemAllocationProp& properties, Bytes granularity)
      : context_(std::move(context)),
        properties_(properties),
        granularity_(granularity),
        access_{{.location = properties.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE}} {}

  absl::Status SetAccess(const Driver& driver, DeviceAddress address, Bytes size) const;

  const PrimaryContext context_;
  const CUmemAllocationProp properties_;
  const Bytes granularity_;
  std::vector<CUmemAccessDesc> access_;  // for this card and for admitted peers
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CUDA_CUDA_VMM_H_
