// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_
#define MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_

#include <atomic>
#include <cstdint>
#include <string_view>

#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/event_log.h"
#include "profiler/recorder/forward_scopes.h"
#include "profiler/recorder/operation_source.h"
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
// pop without a push does nothing. Changes of a thread's owner are events. Errors: as of Recorder.
// Thread rule: any thread, each sees its own; but a thread serves one TagScopes at a time and
// forgets what it pushed to another (a process has one recorder).
class TagScopes {
 public:
  static constexpr uint32_t kMaxDepth = 64;

  // Both outlive this.
  TagScopes(EventLog& log, ContextTable& contexts);

  // Sets what knows of backward passes, which outlives this; null: there are none.
  void SetOperations(const OperationSource* operations) { operations_.store(operations); }
  // A backward pass begins, asked for by this thread: what was before it says nothing about it.
  void BeginBackward();

  void PushTag(std::string_view name);  // "policy" inside "run": owner "run/policy"
  void PopTag();

  // The whole path of the module ("transformer.h.3.mlp"), not a part of it: who enters a module
  // knows its path, and a module may be called from one that does not contain it.
  void PushModule(trace::StringId path);
  void PushModule(std::string_view path) { PushModule(log_.trace().Intern(path)); }
  void PopModule();

  // Gives what this thread allocates a role, until PopRole.
  void PushRole(trace::Role role);
  void PopRole();

  // Enters an owner and a module together, of another thread or an earlier moment (CurrentScope);
  // scopes are left in reverse order.
  void EnterScope(ScopeId scope);
  void EnterScope(std::string_view owner, std::string_view module);
  void LeaveScope();

  // Returns the owner and module of the calling thread.
  ScopeId CurrentScope();
  // Returns those in which this thread ran operation `sequence` forward; 0 if that is not known.
  ScopeId OfForward(uint64_t sequence) const;
  // Returns the context word for an allocation that the calling thread makes now. Ask before taking
  // any lock.
  ContextId CurrentContext(trace::StackId stack);

 private:
  template <typename Value>
  struct Nesting;
  struct ThreadState;
  ThreadState& Mine() const;
  ScopeId Current();  // with the role
  trace::StringId Joined(trace::StringId around, std::string_view name);
  Operation RunningNow() const;
  Scope ScopeIn(ThreadState& state, const Operation& running) const;
  Scope Inherited(ThreadState& state, const Operation& running) const;
  void Look(ThreadState& state, const Operation& running) const;
  void Changed(ThreadState& state, const Operation& running);
  void WriteOwner(const ThreadState& state);
  void KeepForBackward(const Scope& scope, uint64_t operations_ago);

  EventLog& log_;
  ContextTable& contexts_;
  const uint64_t instance_;  // tells this object's entries in thread-local memory from another's
  std::atomic<const OperationSource*> operations_ = nullptr;
  std::atomic<uint64_t> passes_ = 1;                // backward passes, counted
  std::atomic<trace::StringId> owner_of_pass_ = 0;  // of the thread that asked for the latest
  ForwardScopes forward_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_
