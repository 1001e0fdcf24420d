// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CUDA_CUDA_CHUNK_COPIES_H_
#define MEMTRACE_ALLOCATOR_CUDA_CUDA_CHUNK_COPIES_H_

#include <cuda.h>

#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/card/chunk_copies.h"
#include "allocator/cuda/driver.h"
#include "base/units.h"

namespace memtrace {

// Implements ChunkCopies with the CUDA driver. Its stream, which waits for no other, is made at the
// first copy. Thread rule: as Vmm.
class CudaChunkCopies : public ChunkCopies {
 public:
  static absl::StatusOr<std::unique_ptr<CudaChunkCopies>> Open(DeviceIndex device);
  ~CudaChunkCopies() override;

  absl::StatusOr<HostPiece> TakeHostMemory(Bytes size) override;
  void GiveHostMemoryBack(const HostPiece& piece) override;
  absl::Status ToHost(DeviceAddress from, uint64_t host, Bytes size) override;
  absl::Status ToCard(uint64_t host, DeviceAddress to, Bytes size) override;
  absl::Status Within(DeviceAddress from, DeviceAddress to, Bytes size) override;
  absl::Status Clear(DeviceAddress address, Bytes size) override;
  absl::Status Wait() override;

 private:
  explicit CudaChunkCopies(PrimaryContext context) : context_(std::move(context)) {}

  absl::Status OpenStream(const Driver& driver);

  const PrimaryContext context_;
  CUstream stream_ = nullptr;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CUDA_CUDA_CHUNK_COPIES_H_
