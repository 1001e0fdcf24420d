// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CONTEXTS_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CONTEXTS_H_

#include <atomic>
#include <cstdint>
#include <deque>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/simulated_card/memory/physical_memory.h"
#include "interpose/simulated_card/spec/result.h"

namespace memtrace::card {

// Whose memory it is: each context has an owner's number of its own, 0 is none.
using OwnerId = std::uint64_t;

// The primary context of one card, or one that a program created besides. Its address is the
// CUcontext, and never another one's: a destroyed context is known as such.
struct Context {
  Context(int card, OwnerId number, bool is_primary)
      : device(card), id(number), primary(is_primary) {}

  const int device;
  const OwnerId id;
  const bool primary;
  unsigned flags = 0;          // as created, kept and without effect
  std::uint32_t retained = 0;  // of a primary one
  std::atomic<bool> active = false;
};

// All contexts, and each thread's stack of current ones, whose top is the current one. A context
// charges its card as long as it is active: a primary one from its first Retain to the last
// Release, another one until it is destroyed. What was allocated in it is its caller's matter
// (Machine::EndContext). Safe from any thread.
class Contexts {
 public:
  // Must outlive this.
  explicit Contexts(Cards& cards);
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  // kOutOfMemory if the card has no room for it. REQUIRES: device exists.
  Result Retain(int device, Context** context);
  // *ended is the context if this was the last reference, which ends it, else null. It is popped
  // from no stack.
  Result Release(int device, Context** ended);
  bool IsActive(int device) const;
  // To its primary one.
  std::uint32_t References(int device) const;

  // Its primary one's.
  static OwnerId NumberOf(int device) { return static_cast<OwnerId>(device) + 1; }

  // Makes a context and pushes it on the calling thread's stack. kOutOfMemory if the card, or the
  // stack, has no room for it.
  Result Create(int device, unsigned flags, Context** context);
  // Pops it if it is the calling thread's current one; other stacks keep it. kInvalidContext if it
  // is a primary one or none of ours that lives.
  Result Destroy(const void* context);

  // kInvalidContext if it is not one of ours, kContextIsDestroyed if it was destroyed.
  Result Find(const void* context, Context** found);
  // The one of that number, ended or not; the primary one of the device if there is none.
  Context* Owner(OwnerId id, int device);

  // A thread's stack holds this many contexts; a program that pushes more has lost its pops.
  static constexpr std::uint32_t kDeepestStack = 64;

  // Replaces the top of the calling thread's stack; null pops it. Fails as Find.
  Result SetCurrent(const void* context);
  // The same, and kOutOfMemory past kDeepestStack.
  Result Push(const void* context);
  // kInvalidContext if the calling thread has none.
  static Result Pop(Context** popped);
  // The calling thread's; null if none. It may have been ended.
  static Context* Current();

 private:
  Context& Primary(int device) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return contexts_[static_cast<std::size_t>(device)];
  }
  Card& CardOf(const Context& context) { return *cards_[static_cast<std::size_t>(context.device)]; }

  Cards& cards_;
  mutable Mutex mutex_;
  std::deque<Context> contexts_ ABSL_GUARDED_BY(mutex_);  // the primary ones first
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_MEMORY_CONTEXTS_H_
