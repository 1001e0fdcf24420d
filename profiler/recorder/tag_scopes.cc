// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/tag_scopes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

namespace memtrace::recorder {
namespace {

std::atomic<uint64_t> next_instance = 1;
std::atomic<uint32_t> next_thread = 1;

}  // namespace

// Joined names, outermost first: entry i holds names 0 to i.
struct TagScopes::Nesting {
  std::array<trace::StringId, kMaxDepth> names{};
  uint32_t depth = 0;  // may exceed kMaxDepth

  trace::StringId top() const { return depth == 0 ? 0 : names[std::min(depth, kMaxDepth) - 1]; }
  void Push(trace::StringId name) {
    if (depth < kMaxDepth) names[depth] = name;
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
  Nesting tags;
  Nesting modules;
  ScopeId scope = 0;
};

TagScopes::TagScopes(SharedTrace& trace, ContextTable& contexts)
    : trace_(trace), contexts_(contexts), instance_(next_instance.fetch_add(1)) {}

TagScopes::ThreadState& TagScopes::Mine() const {
  static thread_local ThreadState state;
  if (state.instance != instance_) {
    const uint32_t thread = state.thread != 0 ? state.thread : next_thread.fetch_add(1);
    state = ThreadState{.instance = instance_, .thread = thread, .tags = {}, .modules = {}};
  }
  return state;
}

TagScopes::Tag TagScopes::PushTag(std::string_view name) {
  ThreadState& state = Mine();
  state.tags.Push(Joined(state.tags.top(), name));
  Update(state);
  return {.thread = state.thread, .owner = state.tags.top()};
}

TagScopes::Tag TagScopes::PopTag() {
  ThreadState& state = Mine();
  state.tags.Pop();
  Update(state);
  return {.thread = state.thread, .owner = state.tags.top()};
}

void TagScopes::PushModule(std::string_view path) {
  ThreadState& state = Mine();
  state.modules.Push(Named(path));
  Update(state);
}

void TagScopes::PopModule() {
  ThreadState& state = Mine();
  state.modules.Pop();
  Update(state);
}

ScopeId TagScopes::Current() const { return Mine().scope; }

trace::StringId TagScopes::Named(std::string_view path) {
  MutexLock lock(trace_.mutex);
  return trace_.writer->String(path);
}

trace::StringId TagScopes::Joined(trace::StringId around, std::string_view name) {
  MutexLock lock(trace_.mutex);
  const std::string_view outer = trace_.writer->Text(around);
  if (outer.empty()) return trace_.writer->String(name);
  std::string joined(outer);
  joined += '/';
  joined += name;
  return trace_.writer->String(joined);
}

void TagScopes::Update(ThreadState& state) {
  state.scope = contexts_.Scope(state.tags.top(), state.modules.top());
}

}  // namespace memtrace::recorder
