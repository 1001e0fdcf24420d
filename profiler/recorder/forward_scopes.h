// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_FORWARD_SCOPES_H_
#define MEMTRACE_PROFILER_RECORDER_FORWARD_SCOPES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "base/spin_mutex.h"
#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/operation_source.h"

namespace memtrace::recorder {

// The scope in which each operation of a forward pass ran, for the backward pass that comes later,
// on any thread. Only the changes of a thread's scope are kept:
//
//   operations of thread 3:   0 1 2 3 4 5 6 7 8 ...
//   scope                     a a a b b b b a a        kept: (0, a) (3, b) (7, a)
//
// It is unknown when an operation can no longer be asked about (a graph may be kept forever), so
// both dimensions are bounded: the latest kMaxChanges of a thread (4 MiB; some hundred steps of a
// model with 300 modules), and the latest kMaxThreads threads that changed scope at all. Older
// operations have no scope. Code that records no operations (no_grad) keeps nothing.
//
// Thread rule: any thread. Each thread's list has a lock of its own, for which it only competes
// with the thread that runs its backward.
class ForwardScopes {
 public:
  static constexpr size_t kMaxChanges = size_t{1} << 18;
  static constexpr size_t kMaxThreads = 1024;

  ForwardScopes();
  ~ForwardScopes();

  // Sets the scope of the calling thread's operations from `next` on. Called only by that thread.
  void Change(const Operation& next, ScopeId scope);
  // Returns 0 if the scope is not known.
  ScopeId At(const Operation& operation) const;

 private:
  class Thread;
  Thread* Find(uint64_t thread) const;
  Thread& FindOrMake(uint64_t thread);

  mutable SpinMutex mutex_;
  absl::flat_hash_map<uint64_t, Thread*> by_number_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::unique_ptr<Thread>> threads_ ABSL_GUARDED_BY(mutex_);  // oldest first; reused
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_FORWARD_SCOPES_H_
