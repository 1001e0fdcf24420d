// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_EVENT_DEVICE_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_EVENT_DEVICE_H_

#include <cstdint>
#include <variant>

#include "profiler/trace/events/event.h"

namespace memtrace::replay {

struct FindDevice {
  template <typename Payload>
  int32_t operator()(const Payload& payload) const {
    if constexpr (requires { payload.device; }) return payload.device;
    return -1;
  }
  int32_t operator()(const trace::Alive& alive) const { return alive.block.device; }
  int32_t operator()(const trace::CardSample& sample) const { return sample.card.device; }
};

// Returns the card of an event; -1 if it has none.
inline int32_t DeviceOf(const trace::Event& event) {
  return std::visit(FindDevice(), event.payload);
}

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_EVENT_DEVICE_H_
