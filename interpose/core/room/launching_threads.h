// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_LAUNCHING_THREADS_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_LAUNCHING_THREADS_H_

#include <atomic>
#include <cstdint>

namespace memtrace {

// The threads of the program that request memory, and so launch work. Between the unmap and the map
// of a move, an address has no memory, and no lock of ours stops a launch. So memory in use moves
// only if one thread of the program has requested memory in this step and the last one. Threads of
// autograd do not count, because the program waits for them.
//
// Thread rule: any thread.
class LaunchingThreads {
 public:
  // Begins to note threads. Until then Note is one load.
  static void Enable() { is_enabled.store(true, std::memory_order_relaxed); }
  // Notes a request of the calling thread.
  static void Note() {
    if (is_enabled.load(std::memory_order_relaxed)) NoteThread();
  }
  static void EndStep() { step.fetch_add(1, std::memory_order_relaxed); }

  // Returns how many threads of the program have requested memory in this step or the last one.
  static int Count();

 private:
  static void NoteThread();

  static inline std::atomic<bool> is_enabled = false;
  static inline std::atomic<uint64_t> step = 1;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_LAUNCHING_THREADS_H_
