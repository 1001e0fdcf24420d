// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_POLICY_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_POLICY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/units.h"

namespace memtrace::replay {

// Each live block has its own number; that of a wholly freed block is used again.
using BlockNumber = uint32_t;

struct Request {
  Bytes bytes = 0;  // as requested
  StreamId stream{};
  uint32_t pool = 0;  // 0 is the default pool
};

// The place of a block. Segments are counted on each card, from 0, as they appear.
struct Placed {
  BlockNumber block = 0;
  DeviceAddress address;
  uint32_t segment = 0;
  Bytes offset = 0;  // in the segment
  Bytes size = 0;    // that it occupies
};

// The number of calls, by the driver's names.
using DriverCalls = std::map<std::string, uint64_t>;

// An allocator of one card that serves the requests of a program. Sizes are bytes. Thread rule: one
// thread at a time.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  // Returns nothing if out of memory.
  virtual std::optional<Placed> Allocate(const Request& request) = 0;
  // A block is free again at once, or when CompleteFree says that the streams that used it are
  // done.
  virtual void Free(BlockNumber block) = 0;
  virtual void RequestFree(BlockNumber block) = 0;
  virtual void CompleteFree(BlockNumber block) = 0;
  virtual void EmptyCache() = 0;

  // The values of torch.cuda.max_memory_allocated and max_memory_reserved: bytes that blocks
  // occupied, each until its free was requested, and bytes taken from the driver.
  virtual Bytes peak_allocated() const = 0;
  virtual Bytes peak_reserved() const = 0;
  virtual DriverCalls calls() const = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_POLICY_H_
