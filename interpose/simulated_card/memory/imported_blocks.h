// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_IMPORTED_BLOCKS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_IMPORTED_BLOCKS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/memory/shared_memory.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// Memory that other processes made with cudaMalloc, as cudaIpcOpenMemHandle maps it here. The
// exporter is charged for it, this process is not; it goes when the exporter frees it. Small blocks
// share granules, so the whole granule is mapped, once. Safe from any thread; locks before
// AddressSpace.
class ImportedBlocks {
 public:
  // Both arguments must outlive this.
  ImportedBlocks(AddressSpace& space, Cards& cards) : space_(space), cards_(cards) {}
  ImportedBlocks(const ImportedBlocks&) = delete;
  ImportedBlocks& operator=(const ImportedBlocks&) = delete;

  // Maps the block, or finds it mapped. kInvalidHandle for an invalid handle, kInvalidContext for
  // one of this process's own, kPeerAccessUnsupported for memory of another card than `device`,
  // kMapFailed if the exporter is gone. REQUIRES: device exists.
  Result Open(const SharedMemoryRecord& record, int device, Address* begin);
  // Unmaps the block once it has been called as often as Open. kInvalidValue for other memory.
  Result Close(Address address);

 private:
  struct Mapped {
    Address begin;
    std::uint64_t bytes = 0;
    std::uint64_t opened = 0;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // inode and offset of the contents

  Result Map(const SharedMemoryRecord& record, int device, Mapped* mapped);

  AddressSpace& space_;
  Cards& cards_;
  Mutex mutex_;
  std::map<Key, Mapped> mapped_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_IMPORTED_BLOCKS_H_
