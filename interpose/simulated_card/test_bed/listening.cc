// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/test_bed/listening.h"

#include "interpose/simulated_card/memory/contexts.h"

namespace memtrace::card {
namespace {

// This thread's current call; correlation 0: none that a listener knows of.
thread_local memtrace_card_call current_call = {.name = nullptr, .correlation = 0, .result = 0};

// Returns the number of the current context or, if that is another card's, of the primary one.
std::uint32_t ContextOn(int device) {
  const Context* current = Contexts::Current();
  const bool is_on = current != nullptr && current->device == device;
  return static_cast<std::uint32_t>(is_on ? current->id : Contexts::NumberOf(device));
}

}  // namespace

void Listening::Enter(const char* name) {
  const memtrace_card_listener* listener = listener_;
  if (listener == nullptr) return;
  current_call = {.name = name,
                  .correlation = last_correlation_.fetch_add(1, std::memory_order_relaxed) + 1,
                  .result = 0};
  listener->enters(&current_call);
}

void Listening::Leave(int result) {
  const memtrace_card_listener* listener = listener_;
  if (current_call.correlation == 0) return;
  current_call.result = result;
  if (listener != nullptr) listener->leaves(&current_call);
  current_call.correlation = 0;
}

void Listening::Notify(memtrace_card_event event) const {
  const memtrace_card_listener* listener = listener_;
  if (listener == nullptr) return;
  event.correlation = current_call.correlation;
  event.context = ContextOn(event.device);
  listener->happens(&event);
}

}  // namespace memtrace::card
