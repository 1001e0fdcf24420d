// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/cuda/imported_memory.h"

#include <utility>

#include "allocator/cuda/driver.h"
#include "base/status_macros.h"

namespace memtrace {
namespace {

// Hidden from files that must not include <cuda.h>.
class MappedImport final : public ImportedMemory {
 public:
  explicit MappedImport(PrimaryContext context) : context_(std::move(context)) {}

  absl::Status Reserve(Bytes size) {
    const CallScope scope(context_);
    CUdeviceptr address = 0;
    absl::Status status = scope.driver().ToStatus(
        "cuMemAddressReserve", scope.driver().MemAddressReserve(&address, size, 0, /*addr=*/0, 0));
    if (!status.ok()) return status;
    address_ = DeviceAddress{address};
    size_ = size;
    return status;
  }

  // Maps the chunk behind those that are already mapped.
  absl::Status Add(const Chunk& chunk) {
    const CallScope scope(context_);
    const Driver& driver = scope.driver();
    CUmemGenericAllocationHandle handle = 0;
    absl::Status status = driver.ToStatus(
        "cuMemImportFromShareableHandle",
        driver.MemImportFromShareableHandle(
            &handle,
            // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver takes a descriptor so
            reinterpret_cast<void*>(static_cast<intptr_t>(chunk.descriptor.get())),
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    if (!status.ok()) return status;
    const DeviceAddress at = address_ + mapped_;
    status = driver.ToStatus("cuMemMap", driver.MemMap(at.value(), chunk.size, 0, handle, 0));
    if (status.ok()) mapped_ += chunk.size;
    status.Update(driver.ToStatus("cuMemRelease", driver.MemRelease(handle)));
    const CUmemAccessDesc access{
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = context_.device()},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (status.ok()) {
      status = driver.ToStatus("cuMemSetAccess",
                               driver.MemSetAccess(at.value(), chunk.size, &access, 1));
    }
    return status;
  }

  // Waits for work that still uses the memory, because unmapping does not.
  ~MappedImport() override {
    if (size_ == 0) return;
    const CallScope scope(context_);
    const Driver& driver = scope.driver();
    driver.CtxSynchronize();
    if (mapped_ > 0) driver.MemUnmap(address_.value(), mapped_);
    driver.MemAddressFree(address_.value(), size_);
  }

  DeviceAddress address() const override { return address_; }

 private:
  const PrimaryContext context_;
  DeviceAddress address_;
  Bytes size_ = 0;
  Bytes mapped_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<ImportedMemory>> ImportedMemory::Map(
    DeviceIndex device, const std::vector<Chunk>& chunks) {
  MEMTRACE_ASSIGN_OR_RETURN(const Driver* const driver, Driver::Get());
  MEMTRACE_ASSIGN_OR_RETURN(auto context, PrimaryContext::Of(*driver, static_cast<int>(device)));
  auto imported = std::make_unique<MappedImport>(std::move(context));
  Bytes size = 0;
  for (const Chunk& chunk : chunks) size += chunk.size;
  absl::Status status = imported->Reserve(size);
  for (const Chunk& chunk : chunks) {
    if (status.ok()) status = imported->Add(chunk);
  }
  if (!status.ok()) return status;
  return imported;
}

}  // namespace memtrace
