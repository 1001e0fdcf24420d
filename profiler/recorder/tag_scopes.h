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

// The scopes that each thread is in: nested owner tags ("policy/adapter"), nested modules
// ("transformer.h.3.mlp"), and nested roles. Each is a stack of its own, because a tag may end in
// another module than it began in. A new thread begins with none; EnterScope passes another
// thread's to it.
//
// In a backward pass (as `operations` reports) a thread is in the scope in which its current
// operation ran forward; if that had no owner, the owner is that of the thread that requested the
// pass. Scopes entered meanwhile (as a recomputation does) nest in that scope and hold until the
// operation changes; scopes entered outside of it count again when no backward runs. An operation
// without a forward (AccumulateGrad, a gradient's last stop) is in the scope of the previous one in
// the same pass. A backward never inherits a role.
//
// Example, of a thread that runs a model forward and then its backward. "kept" is what the forward
// leaves behind for its backward:
//
//   call or allocation                     running     owner    module   kept for operation 7
//   PushTag("policy"), PushModule("h.0")   none        policy   h.0      policy, h.0
//   forward of operation 7 allocates       none        policy   h.0
//   PopModule, PopTag                      none
//   backward of operation 7 allocates      7           policy   h.0
//   AccumulateGrad allocates               no number   policy   h.0
//
// A tag, module or role past kMaxDepth is counted, so that pops still match, but adds nothing. A
// pop without a push does nothing. A change of a thread's owner is an event. Errors: as of
// Recorder. Thread rule: any thread, and each sees its own scopes. A thread serves one TagScopes at
// a time and forgets what it pushed to another (a process has one recorder).
class TagScopes {
 public:
  static constexpr uint32_t kMaxDepth = 64;

  // Both must outlive this.
  TagScopes(EventLog& log, ContextTable& contexts);

  // Sets the source of backward passes, which must outlive this; null means that there are none.
  void SetOperations(const OperationSource* operations) { operations_.store(operations); }
  // Begins a backward pass, requested by this thread. Earlier passes no longer matter for it.
  void BeginBackward();

  void PushTag(std::string_view name);  // "policy" inside "run": owner "run/policy"
  void PopTag();

  // Takes the whole path of the module ("transformer.h.3.mlp"), not a part of it: the caller knows
  // the path, and a module may be called from one that does not contain it.
  void PushModule(trace::StringId path);
  void PushModule(std::string_view path) { PushModule(log_.trace().Intern(path)); }
  void PopModule();

  // Sets the role of this thread's allocations until PopRole.
  void PushRole(trace::Role role);
  void PopRole();

  // Enters an owner and a module together, of another thread or an earlier moment (CurrentScope);
  // scopes are left in reverse order.
  void EnterScope(ScopeId scope);
  void EnterScope(std::string_view owner, std::string_view module);
  void LeaveScope();

  // Returns the owner and module of the calling thread.
  ScopeId CurrentScope();
  // Returns those in which this thread ran operation `sequence` forward; 0 if they are not known.
  ScopeId OfForward(uint64_t sequence) const;
  // Returns the context word for an allocation that the calling thread makes now. Must be called
  // before taking any lock.
  ContextId CurrentContext(trace::StackId stack);

 private:
  template <typename Value>
  struct Nesting;
  struct ThreadState;
  ThreadState& StateOfThisThread() const;
  ScopeId Current();  // including the role
  trace::StringId JoinNames(trace::StringId around, std::string_view name);
  Operation RunningNow() const;
  Scope ScopeIn(ThreadState& state, const Operation& running) const;
  Scope Inherited(ThreadState& state, const Operation& running) const;
  // Calls `change` with the state of this thread and the operation that it runs.
  template <typename Change>
  void ChangeThisThread(const Change& change);
  void UpdateScope(ThreadState& state, const Operation& running) const;
  void UpdateAndKeepScope(ThreadState& state, const Operation& running);
  void WriteOwner(const ThreadState& state);
  void KeepForBackward(const Scope& scope, uint64_t operations_ago);

  EventLog& log_;
  ContextTable& contexts_;
  const uint64_t instance_;  // identifies this object's entries in thread-local memory
  std::atomic<const OperationSource*> operations_ = nullptr;
  std::atomic<uint64_t> passes_ = 1;                // number of backward passes
  std::atomic<trace::StringId> owner_of_pass_ = 0;  // of the thread that requested the latest pass
  ForwardScopes forward_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_
