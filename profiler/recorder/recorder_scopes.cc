// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Who and where: the recorder's part that threads ask before they take a lock.
#include "profiler/recorder/recorder.h"

namespace memtrace::recorder {

using trace::Role;
using trace::StackId;
using trace::StringId;

void Recorder::PushModule(StringId path) {
  Guarded([&] { scopes_.PushModule(path); });
}

void Recorder::PopModule() {
  Guarded([&] { scopes_.PopModule(); });
}

void Recorder::PushRole(Role role) {
  Guarded([&] { scopes_.PushRole(role); });
}

void Recorder::PopRole() {
  Guarded([&] { scopes_.PopRole(); });
}

ScopeId Recorder::CurrentScope() {
  ScopeId scope = 0;
  Guarded([&] {
    const Scope now = contexts_.ScopeOf(scopes_.Current());
    scope = contexts_.Number({.owner = now.owner, .module = now.module});
  });
  return scope;
}

ScopeId Recorder::ScopeOfForward(uint64_t sequence) const {
  ScopeId scope = 0;
  Guarded([&] { scope = scopes_.OfForward(sequence); });
  return scope;
}

ScopeId Recorder::ScopeNumber(std::string_view owner, std::string_view module) {
  ScopeId scope = 0;
  Guarded([&] {
    scope = contexts_.Number({.owner = InternString(owner), .module = InternString(module)});
  });
  return scope;
}

void Recorder::EnterScope(ScopeId scope) {
  Guarded([&] { scopes_.EnterScope(scope); });
}

void Recorder::LeaveScope() {
  Guarded([&] { scopes_.LeaveScope(); });
}

StackId Recorder::InternStack(std::span<const RawFrame> frames) {
  StackId stack = 0;
  Guarded([&] { stack = stacks_.Intern(frames); });
  return stack;
}

uint64_t Recorder::CurrentContext(StackId stack) {
  uint64_t context = stack;
  Guarded([&] { context = ContextTable::Join(scopes_.Current(), stack); });
  return context;
}

uint64_t Recorder::PackContext(const AllocationContext& context) {
  uint64_t packed = context.stack;
  Guarded([&] { packed = contexts_.Pack(context); });
  return packed;
}

AllocationContext Recorder::UnpackContext(uint64_t context) const {
  return contexts_.Unpack(context);
}

StringId Recorder::InternString(std::string_view text) {
  StringId id = 0;
  Guarded([&] {
    const SpinMutexLock lock(trace_.mutex);
    id = trace_.writer->String(text);
  });
  return id;
}

}  // namespace memtrace::recorder
