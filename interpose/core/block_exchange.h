// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_BLOCK_EXCHANGE_H_
#define MEMTRACE_INTERPOSE_CORE_BLOCK_EXCHANGE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "allocator/cuda/imported_memory.h"
#include "base/mutex.h"
#include "base/units.h"

// How a process gets the chunks of another one's block: a thread of the owner hands their file
// descriptors over a Unix socket, to processes of the same user. (Taking them with pidfd_getfd, as
// torch does, needs the right to trace the owner, which many machines and containers do not give.)
namespace memtrace {

// Which block is wanted. `serial` says whether it is still the same memory.
struct BlockRequest {
  uint64_t device = 0;
  uint64_t address = 0;
  uint64_t serial = 0;
};

class BlockServer {
 public:
  using Chunks = std::vector<ImportedMemory::Chunk>;
  // The chunks of a block; called on the server's thread.
  using Open = std::function<absl::StatusOr<Chunks>(const BlockRequest&)>;

  // The name under which others reach this process. The first call starts the thread, which never
  // ends. kUnavailable if the system has no socket for it.
  absl::StatusOr<std::string> Start(Open open);

 private:
  Mutex mutex_;
  std::string name_;  // guarded by mutex_; empty before the start
};

// Asks the process that is called `name`. kUnavailable if it has ended, kNotFound if it no longer
// has the block. Waits for the answer.
absl::StatusOr<BlockServer::Chunks> FetchBlock(const std::string& name,
                                               const BlockRequest& request);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_BLOCK_EXCHANGE_H_
