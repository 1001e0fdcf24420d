// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_TRACE_EVENTS_EVENT_NAMES_H_
#define MEMTRACE_PROFILER_TRACE_EVENTS_EVENT_NAMES_H_

#include <variant>

#include "profiler/trace/events/event.h"

namespace memtrace::trace {

// Calls `string(id)` with each StringId of an event and `stack(id)` with each StackId, by
// reference, so that the ids can be changed.
template <typename OnString, typename OnStack>
class EventNames {
 public:
  EventNames(OnString string, OnStack stack) : string_(string), stack_(stack) {}

  // `payload` is a Payload, const or not.
  template <typename P>
  void Visit(P& payload) {
    std::visit([this](auto& event) { this->Of(event); }, payload);
  }

 private:
  template <typename E>
  void Of(E& event) {
    if constexpr (requires { event.block.stack; }) Of(event.block);
    if constexpr (requires { event.stack; }) stack_(event.stack);
    if constexpr (requires { event.owner; }) string_(event.owner);
    if constexpr (requires { event.module; }) string_(event.module);
    if constexpr (requires { event.path; }) string_(event.path);
    if constexpr (requires { event.key; }) string_(event.key);
    if constexpr (requires { event.value; }) string_(event.value);
    if constexpr (requires { event.reason; }) string_(event.reason);
    if constexpr (requires { event.name; }) string_(event.name);
  }

  OnString string_;
  OnStack stack_;
};

}  // namespace memtrace::trace

#endif  // MEMTRACE_PROFILER_TRACE_EVENTS_EVENT_NAMES_H_
