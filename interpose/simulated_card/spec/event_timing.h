// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_EVENT_TIMING_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_EVENT_TIMING_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace memtrace::card {

// When the card's work counts as done: at once, when the host waits for it, or when the host has
// asked often enough. The numbers are those of memtrace_card_event_mode.
enum class EventMode : int { kEager = 0, kLazy = 1, kDelayed = 2 };

struct EventTiming {
  EventMode mode = EventMode::kEager;
  std::uint64_t questions = 0;  // kDelayed: answered "not ready" this often

  bool operator==(const EventTiming&) const = default;
};

// Reads "eager", "lazy" or "delay:N", the form of MEMTRACE_CARD_EVENTS; empty means eager. Returns
// false and one sentence in *error for anything else; *timing is then unchanged.
bool ParseEventTiming(std::string_view text, EventTiming* timing, std::string* error);

// Returns the same form.
std::string ToText(const EventTiming& timing);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_SPEC_EVENT_TIMING_H_
