// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_
#define MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_

#include <cstdint>
#include <string_view>

#include "profiler/recorder/allocation_context.h"
#include "profiler/recorder/shared_trace.h"
#include "profiler/trace/event.h"

namespace memtrace::recorder {

// What each thread is in the middle of: nested owner tags ("policy/adapter") and nested modules
// ("transformer.h.3.mlp"). New threads begin with neither.
//
// A tag or module past kMaxDepth is counted, so that pops still match, but adds nothing. A pop
// without a push does nothing. Thread rule: any thread, each sees its own; but a thread serves one
// TagScopes at a time and forgets what it pushed to another (a process has one recorder).
class TagScopes {
 public:
  static constexpr uint32_t kMaxDepth = 64;

  struct Tag {
    uint32_t thread = 0;  // counted from 1 in order of first appearance
    trace::StringId owner = 0;
  };

  TagScopes(SharedTrace& trace, ContextTable& contexts);

  // Both answer with the owner that now holds.
  Tag PushTag(std::string_view name);
  Tag PopTag();

  // The whole path of the module ("transformer.h.3.mlp"), not a part of it: who enters a module
  // knows its path, and a module may be called from one that does not contain it.
  void PushModule(std::string_view path);
  void PopModule();

  // Of the calling thread; takes no lock.
  ScopeId Current() const;

 private:
  struct Nesting;
  struct ThreadState;
  ThreadState& Mine() const;
  trace::StringId Named(std::string_view path);
  trace::StringId Joined(trace::StringId around, std::string_view name);
  void Update(ThreadState& state);

  SharedTrace& trace_;
  ContextTable& contexts_;
  const uint64_t instance_;  // tells this object's entries in thread-local memory from another's
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_TAG_SCOPES_H_
