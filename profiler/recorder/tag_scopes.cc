// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/tag_scopes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace memtrace::recorder {
namespace {

std::atomic<uint64_t> next_instance = 1;
std::atomic<uint32_t> next_thread = 1;

}  // namespace

// What was entered, outermost first, and during the backward of which operation.
template <typename Value>
struct TagScopes::Nesting {
  struct Entry {
    Value value{};
    Operation during;
  };
  std::array<Entry, kMaxDepth> entries{};
  uint32_t depth = 0;  // may exceed kMaxDepth

  // The innermost that holds while `running` runs.
  std::optional<Value> Top(const Operation& running) const {
    if (depth == 0) return std::nullopt;
    const Entry& top = entries[std::min(depth, kMaxDepth) - 1];
    if (running.thread != 0 && top.during != running) return std::nullopt;
    return top.value;
  }
  void Push(Value value, const Operation& running) {
    if (depth < kMaxDepth) entries[depth] = {.value = value, .during = running};
    ++depth;
  }
  void Pop() {
    if (depth > 0) --depth;
  }
};

// Plain data: no destructor has to run when a thread ends.
struct TagScopes::ThreadState {
  uint64_t instance = 0;
  uint32_t thread = 0;
  Nesting<trace::StringId> tags;  // joined: entry i holds names 0 to i
  Nesting<trace::StringId> modules;
  Nesting<trace::Role> roles;

  // What an allocation is given, as long as that operation runs.
  Operation looked_at;
  Scope scope;
  ScopeId number = 0;
  bool is_kept = false;  // for the backward of what is recorded during a backward

  Scope inherited;  // the latest, for operations without a forward
  uint64_t pass = 0;
};

TagScopes::TagScopes(SharedTrace& trace, ContextTable& contexts)
    : trace_(trace), contexts_(contexts), instance_(next_instance.fetch_add(1)) {}

TagScopes::ThreadState& TagScopes::Mine() const {
  static thread_local ThreadState state;
  if (state.instance != instance_) {
    const uint32_t thread = state.thread != 0 ? state.thread : next_thread.fetch_add(1);
    state = ThreadState{};
    state.instance = instance_;
    state.thread = thread;
  }
  return state;
}

void TagScopes::BeginBackward() {
  ThreadState& state = Mine();
  owner_of_pass_.store(ScopeIn(state, RunningNow()).owner, std::memory_order_relaxed);
  passes_.fetch_add(1, std::memory_order_relaxed);
}

TagScopes::Tag TagScopes::PushTag(std::string_view name) {
  ThreadState& state = Mine();
  const Operation running = RunningNow();
  state.tags.Push(Joined(ScopeIn(state, running).owner, name), running);
  Changed(state, running);
  return {.thread = state.thread, .owner = state.scope.owner};
}

TagScopes::Tag TagScopes::PopTag() {
  ThreadState& state = Mine();
  state.tags.Pop();
  Changed(state, RunningNow());
  return {.thread = state.thread, .owner = state.scope.owner};
}

void TagScopes::PushModule(trace::StringId path) {
  ThreadState& state = Mine();
  const Operation running = RunningNow();
  state.modules.Push(path, running);
  Changed(state, running);
}

void TagScopes::PopModule() {
  ThreadState& state = Mine();
  state.modules.Pop();
  Changed(state, RunningNow());
}

void TagScopes::PushRole(trace::Role role) {
  ThreadState& state = Mine();
  const Operation running = RunningNow();
  state.roles.Push(role, running);
  Look(state, running);
}

void TagScopes::PopRole() {
  ThreadState& state = Mine();
  state.roles.Pop();
  Look(state, RunningNow());
}

void TagScopes::EnterScope(ScopeId scope) {
  ThreadState& state = Mine();
  const Operation running = RunningNow();
  const Scope entered = contexts_.ScopeOf(scope);
  state.tags.Push(entered.owner, running);
  state.modules.Push(entered.module, running);
  Changed(state, running);
}

void TagScopes::LeaveScope() {
  ThreadState& state = Mine();
  state.tags.Pop();
  state.modules.Pop();
  Changed(state, RunningNow());
}

ScopeId TagScopes::Current() {
  ThreadState& state = Mine();
  const Operation running = RunningNow();
  if (running != state.looked_at || running.sequence == Operation::kNoNumber) Look(state, running);
  if (running.thread != 0 && !state.is_kept &&
      operations_.load(std::memory_order_relaxed)->IsRecording()) {
    // Operations are numbered before they allocate what they make.
    KeepForBackward(state.scope, 1);
    state.is_kept = true;
  }
  return state.number;
}

ScopeId TagScopes::OfForward(uint64_t sequence) const {
  const OperationSource* operations = operations_.load(std::memory_order_relaxed);
  if (operations == nullptr) return 0;
  return forward_.At({.thread = operations->Next().thread, .sequence = sequence});
}

trace::StringId TagScopes::Joined(trace::StringId around, std::string_view name) {
  SpinMutexLock lock(trace_.mutex);
  const std::string_view outer = trace_.writer->Text(around);
  if (outer.empty()) return trace_.writer->String(name);
  std::string joined(outer);
  joined += '/';
  joined += name;
  return trace_.writer->String(joined);
}

Operation TagScopes::RunningNow() const {
  const OperationSource* operations = operations_.load(std::memory_order_acquire);
  return operations == nullptr ? Operation{} : operations->Running();
}

Scope TagScopes::ScopeIn(ThreadState& state, const Operation& running) const {
  Scope scope = running.thread == 0 ? Scope{} : Inherited(state, running);
  scope.owner = state.tags.Top(running).value_or(scope.owner);
  scope.module = state.modules.Top(running).value_or(scope.module);
  scope.role = state.roles.Top(running).value_or(trace::Role::kUnknown);
  return scope;
}

Scope TagScopes::Inherited(ThreadState& state, const Operation& running) const {
  const uint64_t pass = passes_.load(std::memory_order_relaxed);
  Scope scope;
  if (running.sequence != Operation::kNoNumber) {
    scope = contexts_.ScopeOf(forward_.At(running));
  } else if (state.pass == pass) {
    scope = state.inherited;
  }
  if (scope.owner == 0) scope.owner = owner_of_pass_.load(std::memory_order_relaxed);
  state.inherited = scope;
  state.pass = pass;
  return scope;
}

void TagScopes::Look(ThreadState& state, const Operation& running) const {
  const Scope scope = ScopeIn(state, running);
  if (scope != state.scope) {
    state.scope = scope;
    state.number = contexts_.Number(scope);
  }
  state.looked_at = running;
  state.is_kept = false;
}

void TagScopes::Changed(ThreadState& state, const Operation& running) {
  Look(state, running);
  KeepForBackward(state.scope, 0);
}

void TagScopes::KeepForBackward(const Scope& scope, uint64_t operations_ago) {
  const OperationSource* operations = operations_.load(std::memory_order_relaxed);
  if (operations == nullptr) return;
  Operation next = operations->Next();
  next.sequence -= std::min(next.sequence, operations_ago);
  forward_.Change(next, contexts_.Number({.owner = scope.owner, .module = scope.module}));
}

}  // namespace memtrace::recorder
