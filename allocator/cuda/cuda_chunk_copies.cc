// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/cuda/cuda_chunk_copies.h"

#include <sys/mman.h>

#include "base/status_macros.h"

namespace memtrace {
namespace {

// The driver knows host memory by pointers, which are numbers here.
void* Host(uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

uint64_t NumberOf(const void* address) { return reinterpret_cast<uint64_t>(address); }

// Nobody could be told of the failure.
void Ignore(CUresult) {}

}  // namespace

absl::StatusOr<std::unique_ptr<CudaChunkCopies>> CudaChunkCopies::Open(DeviceIndex device) {
  MEMTRACE_ASSIGN_OR_RETURN(const Driver* const driver, Driver::Get());
  MEMTRACE_ASSIGN_OR_RETURN(auto context, PrimaryContext::Of(*driver, static_cast<int>(device)));
  return std::unique_ptr<CudaChunkCopies>(new CudaChunkCopies(std::move(context)));
}

CudaChunkCopies::~CudaChunkCopies() {
  if (stream_ == nullptr) return;
  const CallScope scope(context_);
  Ignore(scope.driver().StreamDestroy(stream_));
}

absl::StatusOr<HostPiece> CudaChunkCopies::TakeHostMemory(Bytes size) {
  const CallScope scope(context_);
  void* pinned = nullptr;
  if (scope.driver().MemHostAlloc(&pinned, size, /*Flags=*/0) == CUDA_SUCCESS)
    return HostPiece{.address = NumberOf(pinned), .size = size, .is_pinned = true};
  void* pageable = mmap(/*addr=*/nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        /*fd=*/-1, /*offset=*/0);
  if (pageable == MAP_FAILED) return absl::ResourceExhaustedError("the host is out of memory");
  return HostPiece{.address = NumberOf(pageable), .size = size, .is_pinned = false};
}

void CudaChunkCopies::GiveHostMemoryBack(const HostPiece& piece) {
  if (!piece.is_pinned) {
    munmap(Host(piece.address), piece.size);
    return;
  }
  const CallScope scope(context_);
  Ignore(scope.driver().MemFreeHost(Host(piece.address)));
}

absl::Status CudaChunkCopies::ToHost(DeviceAddress from, uint64_t host, Bytes size) {
  const CallScope scope(context_);
  const Driver& driver = scope.driver();
  MEMTRACE_RETURN_IF_ERROR(OpenStream(driver));
  return driver.ToStatus("cuMemcpyDtoHAsync",
                         driver.MemcpyDtoHAsync(Host(host), from.value(), size, stream_));
}

absl::Status CudaChunkCopies::ToCard(uint64_t host, DeviceAddress to, Bytes size) {
  const CallScope scope(context_);
  const Driver& driver = scope.driver();
  MEMTRACE_RETURN_IF_ERROR(OpenStream(driver));
  return driver.ToStatus("cuMemcpyHtoDAsync",
                         driver.MemcpyHtoDAsync(to.value(), Host(host), size, stream_));
}

absl::Status CudaChunkCopies::Within(DeviceAddress from, DeviceAddress to, Bytes size) {
  const CallScope scope(context_);
  const Driver& driver = scope.driver();
  MEMTRACE_RETURN_IF_ERROR(OpenStream(driver));
  return driver.ToStatus("cuMemcpyDtoDAsync",
                         driver.MemcpyDtoDAsync(to.value(), from.value(), size, stream_));
}

absl::Status CudaChunkCopies::Clear(DeviceAddress address, Bytes size) {
  const CallScope scope(context_);
  const Driver& driver = scope.driver();
  MEMTRACE_RETURN_IF_ERROR(OpenStream(driver));
  return driver.ToStatus("cuMemsetD8Async",
                         driver.MemsetD8Async(address.value(), 0, size, stream_));
}

absl::Status CudaChunkCopies::Wait() {
  if (stream_ == nullptr) return absl::OkStatus();
  const CallScope scope(context_);
  return scope.driver().ToStatus("cuStreamSynchronize", scope.driver().StreamSynchronize(stream_));
}

absl::Status CudaChunkCopies::OpenStream(const Driver& driver) {
  if (stream_ != nullptr) return absl::OkStatus();
  return driver.ToStatus("cuStreamCreate", driver.StreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
}

}  // namespace memtrace
