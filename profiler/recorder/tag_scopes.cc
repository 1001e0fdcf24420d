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

  // The scope of allocations as long as operation `scope_of` runs.
  Operation scope_of;
  Scope scope;
  ScopeId scope_number = 0;
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

template <typename Change>
void TagScopes::ChangeThisThread(const Change& change) {
  log_.trace().Guarded([&] { change(StateOfThisThread(), RunningNow()); });
}

void TagScopes::BeginBackward() {
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    owner_of_pass_.store(ScopeIn(state, running).owner, std::memory_order_relaxed);
    passes_.fetch_add(1, std::memory_order_relaxed);
  });
}

// The owner changes before its event is written. Meanwhile only this thread could allocate under
// it, and it is busy here.
void TagScopes::PushTag(std::string_view name) {
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    state.tags.Push(JoinNames(ScopeIn(state, running).owner, name), running);
    UpdateAndKeepScope(state, running);
    WriteOwner(state);
  });
}

void TagScopes::PopTag() {
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    state.tags.Pop();
    UpdateAndKeepScope(state, running);
    WriteOwner(state);
  });
}

void TagScopes::PushModule(trace::StringId path) {
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    state.modules.Push(path, running);
    UpdateAndKeepScope(state, running);
  });
}

void TagScopes::PopModule() {
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    state.modules.Pop();
    UpdateAndKeepScope(state, running);
  });
}

// A role is not kept: a backward never inherits one.
void TagScopes::PushRole(trace::Role role) {
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    state.roles.Push(role, running);
    UpdateScope(state, running);
  });
}

void TagScopes::PopRole() {
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    state.roles.Pop();
    UpdateScope(state, running);
  });
}

void TagScopes::EnterScope(ScopeId scope) {
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    const Scope entered = contexts_.ScopeOf(scope);
    state.tags.Push(entered.owner, running);
    state.modules.Push(entered.module, running);
    UpdateAndKeepScope(state, running);
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
  ChangeThisThread([&](ThreadState& state, const Operation& running) {
    state.tags.Pop();
    state.modules.Pop();
    UpdateAndKeepScope(state, running);
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
  if (running != state.scope_of || running.sequence == Operation::kNoNumber)
    UpdateScope(state, running);
  if (running.thread != 0 && !state.is_kept &&
      operations_.load(std::memory_order_relaxed)->IsRecording()) {
    // Uses 1 because an operation is numbered before it allocates its results.
    KeepForBackward(state.scope, 1);
    state.is_kept = true;
  }
  return state.scope_number;
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

void TagScopes::UpdateScope(ThreadState& state, const Operation& running) const {
  const Scope scope = ScopeIn(state, running);
  if (scope != state.scope) {
    state.scope = scope;
    state.scope_number = contexts_.Number(scope);
  }
  state.scope_of = running;
  state.is_kept = false;
}

void TagScopes::UpdateAndKeepScope(ThreadState& state, const Operation& running) {
  UpdateScope(state, running);
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
