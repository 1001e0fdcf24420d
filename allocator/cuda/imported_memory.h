// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_ALLOCATOR_CUDA_IMPORTED_MEMORY_H_
#define MEMTRACE_ALLOCATOR_CUDA_IMPORTED_MEMORY_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "allocator/card/unique_descriptor.h"
#include "base/units.h"

namespace memtrace {

// Chunks of another process, mapped one after the other until this is destroyed. The address space
// it takes is the sum of their sizes.
class ImportedMemory {
 public:
  struct Chunk {
    UniqueDescriptor descriptor;  // as Vmm::Share gave it in the other process
    Bytes size = 0;
  };

  // kInternal with the driver's words; nothing is mapped then. REQUIRES: `chunks` is not empty.
  static absl::StatusOr<std::unique_ptr<ImportedMemory>> Map(DeviceIndex device,
                                                             const std::vector<Chunk>& chunks);
  virtual ~ImportedMemory() = default;
  virtual DeviceAddress address() const = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_ALLOCATOR_CUDA_IMPORTED_MEMORY_H_
