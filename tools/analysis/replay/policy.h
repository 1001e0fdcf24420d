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

// A number of its own for each block; that of one that is wholly freed is used again.
using BlockNumber = uint32_t;

struct Request {
  Bytes bytes = 0;  // as asked for
  StreamId stream{};
  uint32_t pool = 0;  // 0 is the default pool
};

// Where a block came to lie. Segments are counted on each card, from 0, as they appear.
struct Placed {
  BlockNumber block = 0;
  DeviceAddress address;
  uint32_t segment = 0;
  Bytes offset = 0;  // in the segment
  Bytes size = 0;    // that it occupies
};

// Calls by the driver's names.
using DriverCalls = std::map<std::string, uint64_t>;

// An allocator of one card, put to what a program asked for. Sizes are bytes.
// Thread rule: one thread at a time.
class Policy {
 public:
  Policy() = default;
  Policy(const Policy&) = delete;
  Policy& operator=(const Policy&) = delete;
  virtual ~Policy() = default;

  // Nothing: out of memory.
  virtual std::optional<Placed> Allocate(const Request& request) = 0;
  // Free again at once, or when CompleteFree says that the streams that used it have got that far.
  virtual void Free(BlockNumber block) = 0;
  virtual void RequestFree(BlockNumber block) = 0;
  virtual void CompleteFree(BlockNumber block) = 0;
  virtual void EmptyCache() = 0;

  // As torch.cuda.max_memory_allocated and max_memory_reserved say: bytes that blocks occupied,
  // each until its free was requested, and bytes taken from the driver.
  virtual Bytes peak_allocated() const = 0;
  virtual Bytes peak_reserved() const = 0;
  virtual DriverCalls calls() const = 0;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_POLICY_H_
