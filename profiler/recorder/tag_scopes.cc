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

// The values that were entered, outermost first, each with the operation whose backward was
// running.
template <typename Value>
struct TagScopes::Nesting {
  struct Entry {
    Value value{};
    Operation during;
  };
  std::array<Entry, kMaxDepth> entries{};
  uint32_t depth = 0;  // may exceed kMaxDepth

  // Returns the innermost value that holds while `running` runs.
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

// Plain data, so that no destructor has to run when a thread ends.
struct TagScopes::ThreadState {
  uint64_t instance = 0;
  uint32_t thread = 0;
  Nesting<trace::StringId> tags;  // joined paths: entry i holds names 0 to i
  Nesting<trace::StringId> modules;
  Nesting<trace::Role> roles;

  // The scope of allocations as long as that operation runs.
  Operation looked_at;
  Scope scope;
  ScopeId number = 0;
  bool is_kept = false;  // for the backward of operations recorded during a backward

  Scope inherited;  // the latest one, for operations without a forward
  uint64_t pass = 0;
};

TagScopes::TagScopes(EventLog& log, ContextTable& contexts)
    : log_(log), contexts_(contexts), instance_(next_instance.fetch_add(1)) {}

TagScopes::ThreadState& TagScopes::StateOfThisThread() const {
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
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    owner_of_pass_.store(ScopeIn(state, RunningNow()).owner, std::memory_order_relaxed);
    passes_.fetch_add(1, std::memory_order_relaxed);
  });
}

// The owner changes before its event is written. Meanwhile only this thread could allocate under
// it, and it is busy here.
void TagScopes::PushTag(std::string_view name) {
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    const Operation running = RunningNow();
    state.tags.Push(JoinNames(ScopeIn(state, running).owner, name), running);
    Changed(state, running);
    WriteOwner(state);
  });
}

void TagScopes::PopTag() {
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    state.tags.Pop();
    Changed(state, RunningNow());
    WriteOwner(state);
  });
}

void TagScopes::PushModule(trace::StringId path) {
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    const Operation running = RunningNow();
    state.modules.Push(path, running);
    Changed(state, running);
  });
}

void TagScopes::PopModule() {
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    state.modules.Pop();
    Changed(state, RunningNow());
  });
}

void TagScopes::PushRole(trace::Role role) {
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    const Operation running = RunningNow();
    state.roles.Push(role, running);
    Look(state, running);
  });
}

void TagScopes::PopRole() {
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    state.roles.Pop();
    Look(state, RunningNow());
  });
}

void TagScopes::EnterScope(ScopeId scope) {
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    const Operation running = RunningNow();
    const Scope entered = contexts_.ScopeOf(scope);
    state.tags.Push(entered.owner, running);
    state.modules.Push(entered.module, running);
    Changed(state, running);
  });
}

void TagScopes::EnterScope(std::string_view owner, std::string_view module) {
  ScopeId scope = 0;
  log_.trace().Guarded([&] {
    SharedTrace& trace = log_.trace();
    scope = contexts_.Number({.owner = trace.Intern(owner), .module = trace.Intern(module)});
  });
  EnterScope(scope);
}

void TagScopes::LeaveScope() {
  log_.trace().Guarded([&] {
    ThreadState& state = StateOfThisThread();
    state.tags.Pop();
    state.modules.Pop();
    Changed(state, RunningNow());
  });
}

ScopeId TagScopes::CurrentScope() {
  ScopeId scope = 0;
  log_.trace().Guarded([&] {
    const Scope now = contexts_.ScopeOf(Current());
    scope = contexts_.Number({.owner = now.owner, .module = now.module});
  });
  return scope;
}

ScopeId TagScopes::OfForward(uint64_t sequence) const {
  ScopeId scope = 0;
  log_.trace().Guarded([&] {
    if (const OperationSource* operations = operations_.load(std::memory_order_relaxed)) {
      scope = forward_.At({.thread = operations->Next().thread, .sequence = sequence});
    }
  });
  return scope;
}

ContextId TagScopes::CurrentContext(trace::StackId stack) {
  ContextId context{stack};
  log_.trace().Guarded([&] { context = ContextTable::Join(Current(), stack); });
  return context;
}

ScopeId TagScopes::Current() {
  ThreadState& state = StateOfThisThread();
  const Operation running = RunningNow();
  if (running != state.looked_at || running.sequence == Operation::kNoNumber) Look(state, running);
  if (running.thread != 0 && !state.is_kept &&
      operations_.load(std::memory_order_relaxed)->IsRecording()) {
    // Uses 1 because an operation is numbered before it allocates its results.
    KeepForBackward(state.scope, 1);
    state.is_kept = true;
  }
  return state.number;
}

trace::StringId TagScopes::JoinNames(trace::StringId around, std::string_view name) {
  const SpinMutexLock lock(log_.mutex());
  trace::DefinitionWriter& names = log_.writer().definitions();
  const std::string_view outer = names.Text(around);
  if (outer.empty()) return names.String(name);
  std::string joined(outer);
  joined += '/';
  joined += name;
  return names.String(joined);
}

void TagScopes::WriteOwner(const ThreadState& state) {
  const SpinMutexLock lock(log_.mutex());
  log_.Append(trace::TagChange{.thread = state.thread, .owner = state.scope.owner});
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
