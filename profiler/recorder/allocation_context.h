// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ALLOCATION_CONTEXT_H_
#define MEMTRACE_PROFILER_RECORDER_ALLOCATION_CONTEXT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "allocator/mutex.h"
#include "profiler/trace/event.h"

namespace memtrace::recorder {

// Who allocates, from where.
struct AllocationContext {
  trace::StackId stack = 0;
  trace::StringId owner = 0;
  trace::StringId module = 0;
  friend bool operator==(const AllocationContext&, const AllocationContext&) = default;
};

// A pair of owner and module by number; 0 is neither.
using ScopeId = uint32_t;

// Packs contexts into the 64 bits that travel through the allocator: the stack below, above it the
// number of the (owner, module) pair. String numbers do not fit in 16 bits each (files and
// functions share them), but a program has few pairs, and a thread's pair changes only when it
// enters a tag or a module: then its number is looked up, not for every allocation.
//
// Rejected: a pointer to a heap object (someone must free it), 16 bits for each part (a wrong owner
// after 65,535 strings). Thread rule: any thread; Pack and Unpack of known pairs take no lock.
class ContextTable {
 public:
  // Past this many pairs, new ones are recorded by their owner alone; past owners too, as none.
  static constexpr size_t kMaxScopes = 1 << 20;

  ContextTable();
  ~ContextTable();
  ContextTable(const ContextTable&) = delete;
  ContextTable& operator=(const ContextTable&) = delete;

  ScopeId Scope(trace::StringId owner, trace::StringId module);
  static uint64_t Join(ScopeId scope, trace::StackId stack) {
    return uint64_t{scope} << 32 | stack;
  }

  uint64_t Pack(const AllocationContext& context) {
    return Join(Scope(context.owner, context.module), context.stack);
  }
  // A number that Pack never gave is read as its stack alone.
  AllocationContext Unpack(uint64_t context) const;

 private:
  struct Pair {
    trace::StringId owner = 0;
    trace::StringId module = 0;
  };
  static constexpr size_t kChunk = 1024;  // 8 KiB: most programs need one or two
  using Chunk = std::array<Pair, kChunk>;

  Mutex mutex_;
  absl::flat_hash_map<uint64_t, ScopeId> ids_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint32_t> count_ = 1;  // pairs below are complete; 0 is {0, 0}
  std::array<std::atomic<Chunk*>, kMaxScopes / kChunk>
      chunks_{};  // never move, so readers need no lock
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ALLOCATION_CONTEXT_H_
