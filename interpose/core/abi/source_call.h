// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ABI_SOURCE_CALL_H_
#define MEMTRACE_INTERPOSE_CORE_ABI_SOURCE_CALL_H_

namespace memtrace {

// On the stack while a pool's own allocator is called, under the card's lock. Memory that it takes
// from the driver meanwhile is the pool's, which our allocator reports itself, so it is not outside
// memory; code that sees it taken must not read the card's ledger.
class SourceCall {
 public:
  SourceCall() { ++depth; }
  ~SourceCall() { --depth; }
  SourceCall(const SourceCall&) = delete;
  SourceCall& operator=(const SourceCall&) = delete;

  // True while the calling thread is in a call of a memory source.
  static bool IsRunning() { return depth > 0; }

 private:
  static inline thread_local int depth = 0;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ABI_SOURCE_CALL_H_
