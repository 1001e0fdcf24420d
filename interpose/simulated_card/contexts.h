// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CONTEXTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CONTEXTS_H_

#include <cstdint>
#include <deque>
#include <mutex>

#include "interpose/simulated_card/physical_memory.h"
#include "interpose/simulated_card/result.h"

namespace memtrace::card {

// The primary context of one card. Its address is the CUcontext.
struct Context {
  int device = 0;
  std::uint32_t retained = 0;
  bool active = false;
};

// Primary contexts and each thread's stack of current ones, whose top is the current one. A context
// charges its card when it is first retained and, as allocations may still stand in it, keeps the
// charge after the last release. Safe from any thread.
class Contexts {
 public:
  // Must outlive this.
  explicit Contexts(Cards& cards);
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  // kOutOfMemory if the card has no room for it. REQUIRES: device exists.
  Result Retain(int device, Context** context);
  Result Release(int device);
  bool IsActive(int device) const;
  // -1 if it is not one of ours.
  int DeviceOf(const void* context) const;

  // A thread's stack holds this many contexts; a program that pushes more has lost its pops.
  static constexpr std::uint32_t kDeepestStack = 64;

  // Replaces the top of the calling thread's stack; null pops it. kInvalidContext if it is not one
  // of ours.
  Result SetCurrent(const void* context);
  // kInvalidContext if it is not one of ours, kOutOfMemory past kDeepestStack.
  Result Push(const void* context);
  // kInvalidContext if the calling thread has none.
  static Result Pop(Context** popped);
  // The calling thread's; null if none.
  static Context* Current();

 private:
  Context* Find(const void* context);

  Cards& cards_;
  mutable std::mutex mutex_;
  std::deque<Context> contexts_;  // guarded by mutex_, except device
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CONTEXTS_H_
