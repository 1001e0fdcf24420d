// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_LISTENING_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_LISTENING_H_

#include <atomic>
#include <cstdint>

#include "interpose/simulated_card/interface/card_listener.h"

namespace memtrace::card {

// Returns an event in a stream; the caller fills in its other fields.
inline memtrace_card_event EventOf(memtrace_card_event_kind kind, int device,
                                   std::uint64_t stream = 0) {
  memtrace_card_event event = {};
  event.kind = kind;
  event.device = device;
  event.stream = stream;
  return event;
}

// The listener, if any, that is told what the cards do: a profiler. Without one, each place that
// would tell costs one look at a flag. Safe from any thread.
class Listening {
 public:
  Listening() = default;
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

  // Null removes the listener.
  void Set(const memtrace_card_listener* listener) { listener_ = listener; }
  bool IsOn() const { return listener_.load(std::memory_order_relaxed) != nullptr; }

  // Call these around a call that the program makes in this thread; name must live until Leave.
  void Enter(const char* name);
  void Leave(int result);

  // Adds the current call and context to the event, and tells it. REQUIRES: the caller holds no
  // lock.
  void Notify(memtrace_card_event event) const;

 private:
  std::atomic<const memtrace_card_listener*> listener_ = nullptr;
  std::atomic<std::uint32_t> last_correlation_ = 0;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_TEST_BED_LISTENING_H_
