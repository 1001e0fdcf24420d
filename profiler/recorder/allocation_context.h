// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ALLOCATION_CONTEXT_H_
#define MEMTRACE_PROFILER_RECORDER_ALLOCATION_CONTEXT_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "base/spin_mutex.h"
#include "base/units.h"
#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// Where an allocation comes from and, if the program said so, what it is for.
struct AllocationContext {
  trace::StackId stack = 0;
  trace::StringId owner = 0;
  trace::StringId module = 0;
  trace::Role role = trace::Role::kUnknown;
  friend bool operator==(const AllocationContext&, const AllocationContext&) = default;
};

// The number of a scope (owner, module and role); 0 is the empty scope.
using ScopeId = uint32_t;
struct Scope {
  trace::StringId owner = 0;
  trace::StringId module = 0;
  trace::Role role = trace::Role::kUnknown;
  friend bool operator==(const Scope&, const Scope&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const Scope& scope) {
    return H::combine(std::move(h), scope.owner, scope.module, scope.role);
  }
};

// Packs contexts into the 64 bits that travel through the allocator: the stack in the low half, the
// number of the scope in the high half. String numbers do not fit in 16 bits each (files and
// functions share them), but a program has few scopes, and a thread's scope changes only when it
// enters a tag or a module: its number is looked up then, not for every allocation.
//
// Rejected: a pointer to a heap object (someone must free it), and 16 bits for each part (wrong
// owners after 65,535 strings). Thread rule: any thread; Unpack takes no lock.
class ContextTable {
 public:
  // Beyond this many scopes, a new one is recorded with its owner alone; if that fails also, as
  // empty.
  static constexpr size_t kMaxScopes = 1 << 20;

  ContextTable();
  ~ContextTable();
  ContextTable(const ContextTable&) = delete;
  ContextTable& operator=(const ContextTable&) = delete;

  ScopeId Number(const Scope& scope);
  // Returns {} for a number that was never given.
  Scope ScopeOf(ScopeId number) const;
  static ContextId Join(ScopeId scope, trace::StackId stack) {
    return ContextId{uint64_t{scope} << 32 | stack};
  }

  ContextId Pack(const AllocationContext& context) {
    return Join(Number({context.owner, context.module, context.role}), context.stack);
  }
  // A number that Pack never gave is treated as a stack without a scope.
  AllocationContext Unpack(ContextId context) const;

 private:
  static constexpr size_t kChunk = 1024;  // 12 KiB: most programs need one or two
  using Chunk = std::array<Scope, kChunk>;

  SpinMutex mutex_;
  absl::flat_hash_map<Scope, ScopeId> ids_ ABSL_GUARDED_BY(mutex_);
  std::atomic<uint32_t> count_ = 1;  // scopes below it are complete; 0 is {}
  // Chunks never move, so readers need no lock.
  std::array<std::atomic<Chunk*>, kMaxScopes / kChunk> chunks_{};
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ALLOCATION_CONTEXT_H_
