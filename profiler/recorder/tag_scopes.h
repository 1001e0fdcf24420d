// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_
#define MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/forward_scopes.h"
#include "profiler/recorder/operation_source.h"
#include "profiler/recorder/shared_trace.h"
#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// What each thread is in the middle of: nested owner tags ("policy/adapter"), nested modules
// ("transformer.h.3.mlp"), nested roles, each a stack of its own, since a tag may end in another
// module than it began in. New threads begin with none; EnterScope hands one's over.
//
// In a backward pass (`operations` says so) a thread is in the scope in which the operation ran
// forward, whose backward it runs; if that had no owner, the thread that asked for the pass is it.
// What it enters meanwhile (a recomputation does) nests in that scope and holds until the operation
// changes: what was entered outside of it counts again when no backward runs. An operation without
// a forward (AccumulateGrad, a gradient's last stop) is in the scope of the one before it in the
// same pass. A role is never inherited by a backward.
//
// A tag, module or role past kMaxDepth is counted, so that pops still match, but adds nothing. A
// pop without a push does nothing. Thread rule: any thread, each sees its own; but a thread serves
// one TagScopes at a time and forgets what it pushed to another (a process has one recorder).
class TagScopes {
 public:
  static constexpr uint32_t kMaxDepth = 64;

  struct Tag {
    uint32_t thread = 0;  // counted from 1 in order of first appearance
    trace::StringId owner = 0;
  };

  TagScopes(SharedTrace& trace, ContextTable& contexts);

  // From now on; null: there are no backward passes. Outlives this.
  void SetOperations(const OperationSource* operations) { operations_.store(operations); }
  // A backward pass begins, asked for by this thread: what was before it says nothing about it.
  void BeginBackward();

  // Both answer with the owner that now holds.
  Tag PushTag(std::string_view name);
  Tag PopTag();

  // The whole path of the module ("transformer.h.3.mlp"), not a part of it: who enters a module
  // knows its path, and a module may be called from one that does not contain it.
  void PushModule(trace::StringId path);
  void PopModule();

  // What is allocated meanwhile has this role.
  void PushRole(trace::Role role);
  void PopRole();

  // Owner and module of another thread or of before, to be entered as one; left in reverse order.
  void EnterScope(ScopeId scope);
  void LeaveScope();

  // Of the calling thread.
  ScopeId Current();
  // In which this thread ran operation `sequence` forward; 0 if that is not known.
  ScopeId OfForward(uint64_t sequence) const;

 private:
  template <typename Value>
  struct Nesting;
  struct ThreadState;
  ThreadState& Mine() const;
  trace::StringId Joined(trace::StringId around, std::string_view name);
  Operation RunningNow() const;
  Scope ScopeIn(ThreadState& state, const Operation& running) const;
  Scope Inherited(ThreadState& state, const Operation& running) const;
  void Look(ThreadState& state, const Operation& running) const;
  void Changed(ThreadState& state, const Operation& running);
  void KeepForBackward(const Scope& scope, uint64_t operations_ago);

  SharedTrace& trace_;
  ContextTable& contexts_;
  const uint64_t instance_;  // tells this object's entries in thread-local memory from another's
  std::atomic<const OperationSource*> operations_ = nullptr;
  std::atomic<uint64_t> passes_ = 1;                // backward passes, counted
  std::atomic<trace::StringId> owner_of_pass_ = 0;  // of the thread that asked for the latest
  ForwardScopes forward_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_
