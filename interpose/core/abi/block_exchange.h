// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_BLOCK_EXCHANGE_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_BLOCK_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/cuda/imported_memory.h"
#include "base/mutex.h"
#include "base/units.h"

// Hands the chunks of a block to another process: the owner's server sends their file
// descriptors over a Unix socket to processes of the same user. (Taking them with pidfd_getfd, as
// torch does, needs the right to trace the owner, which many machines and containers do not give.)
namespace memtrace {

// Names the requested block. `serial` tells if it is still the same memory.
struct BlockRequest {
  uint64_t device = 0;
  uint64_t address = 0;
  uint64_t serial = 0;
};

class BlockServer {
 public:
  using Chunks = std::vector<ImportedMemory::Chunk>;
  // Returns the chunks of a block; called on the server's thread.
  using Open = std::function<absl::StatusOr<Chunks>(const BlockRequest&)>;

  // Returns the name under which other processes reach this one. The first call begins to listen
  // (LocalServer). kUnavailable if the system has no socket for it.
  absl::StatusOr<std::string> Start(Open open);

 private:
  Mutex mutex_;
  std::string name_;  // guarded by mutex_; empty before the start
};

// Requests the block from the process called `name` and waits for the answer. kUnavailable if the
// process has ended, kNotFound if it no longer has the block.
absl::StatusOr<BlockServer::Chunks> FetchBlock(const std::string& name,
                                               const BlockRequest& request);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_BLOCK_EXCHANGE_H_
