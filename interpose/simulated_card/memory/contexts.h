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

// The owner of memory: each context has its own number; 0 is none.
using OwnerId = std::uint64_t;

// The primary context of one card, or an additional one that a program created. Its address is the
// CUcontext and is never reused, so that a destroyed context is recognized.
struct Context {
  Context(int card, OwnerId number, bool is_primary)
      : device(card), id(number), primary(is_primary) {}

  const int device;
  const OwnerId id;
  const bool primary;
  unsigned flags = 0;          // as created, without effect
  std::uint32_t retained = 0;  // for a primary one
  std::atomic<bool> active = false;
};

// All contexts, and each thread's stack of current ones, whose top is the current one. A context
// charges its card as long as it is active: a primary one from its first Retain to the last
// Release, another one until it is destroyed. The caller frees memory that was allocated in it
// (Machine::EndContext). Safe from any thread.
class Contexts {
 public:
  // `cards` must outlive this.
  explicit Contexts(Cards& cards);
  Contexts(const Contexts&) = delete;
  Contexts& operator=(const Contexts&) = delete;

  // kOutOfMemory if the card has no room for it. REQUIRES: device exists.
  Result Retain(int device, Context** context);
  // *ended is the context if this was the last reference, which ends it, else null. Release pops it
  // from no stack.
  Result Release(int device, Context** ended);
  bool IsActive(int device) const;
  // Returns the references to the card's primary context.
  std::uint32_t References(int device) const;

  // Returns the number of the card's primary context.
  static OwnerId NumberOf(int device) { return static_cast<OwnerId>(device) + 1; }

  // Makes a context and pushes it on the calling thread's stack. kOutOfMemory if the card or the
  // stack has no room for it.
  Result Create(int device, unsigned flags, Context** context);
  // Pops it if it is the calling thread's current one; other stacks keep it. kInvalidContext if it
  // is a primary context or not a live context of ours.
  Result Destroy(const void* context);

  // kInvalidContext if it is not one of ours, kContextIsDestroyed if it was destroyed.
  Result Find(const void* context, Context** found);
  // Returns the context of that number, ended or not; the device's primary one if there is none.
  Context* Owner(OwnerId id, int device);

  // The most contexts on a thread's stack; a program that pushes more has forgotten its pops.
  static constexpr std::uint32_t kDeepestStack = 64;

  // Replaces the top of the calling thread's stack; null pops it. Errors are those of Find.
  Result SetCurrent(const void* context);
  // Pushes it. Errors are the same, and kOutOfMemory past kDeepestStack.
  Result Push(const void* context);
  // kInvalidContext if the calling thread has no context.
  static Result Pop(Context** popped);
  // Returns the calling thread's context; null if there is none. It may have ended.
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
