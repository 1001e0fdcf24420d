// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_CARDS_MOVABLE_SCOPES_H_
#define MEMTRACE_INTERPOSE_CORE_CARDS_MOVABLE_SCOPES_H_

#include <atomic>
#include <cstdint>

#include "allocator/blocks/segment_key.h"

namespace memtrace {

// The movable owner whose memory a thread allocates: the innermost that it has entered. An owner's
// number is that of its name (Names).
//
// Thread rule: any thread; a scope is the calling thread's.
class MovableScopes {
 public:
  static void Push(uint32_t name);
  static void Pop();

  // Returns the owner 0 outside all scopes. This is one load until a process has a movable owner.
  static MovableOwner Current() {
    return is_used.load(std::memory_order_relaxed) ? OfThread() : MovableOwner{};
  }

 private:
  static MovableOwner OfThread();

  static inline std::atomic<bool> is_used = false;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_CARDS_MOVABLE_SCOPES_H_
