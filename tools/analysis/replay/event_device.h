// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_ANALYSIS_REPLAY_EVENT_DEVICE_H_
#define MEMTRACE_TOOLS_ANALYSIS_REPLAY_EVENT_DEVICE_H_

#include <cstdint>
#include <variant>

#include "profiler/trace/events/event.h"

namespace memtrace::replay {

struct FindDevice {
  template <
      trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted, trace::Reserve,
                   trace::Map, trace::Unmap, trace::Relabel, trace::OutOfMemory,
                   trace::OutsideAllocate, trace::OutsideFree, trace::Activity, trace::Moved>
          OfCard>
  int32_t operator()(const OfCard& payload) const {
    return payload.device;
  }
  int32_t operator()(const trace::Alive& alive) const { return alive.block.device; }
  int32_t operator()(const trace::CardSample& sample) const { return sample.card.device; }
  template <trace::OneOf<trace::Step, trace::PhaseChange, trace::TagChange, trace::Annotate,
                         trace::Lost, trace::Resume>
                OfNoCard>
  int32_t operator()(const OfNoCard&) const {
    return -1;
  }
};

// Returns the card of an event; -1 if it has none.
inline int32_t DeviceOf(const trace::Event& event) {
  return std::visit(FindDevice(), event.payload);
}

}  // namespace memtrace::replay

#endif  // MEMTRACE_TOOLS_ANALYSIS_REPLAY_EVENT_DEVICE_H_
