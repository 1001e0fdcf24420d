// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_TOOLS_ANALYSIS_REPLAY_LISTED_EVENTS_H_
#define MEMTRACE_TESTS_TOOLS_ANALYSIS_REPLAY_LISTED_EVENTS_H_

#include <vector>

#include "base/units.h"
#include "tools/analysis/source/event_source.h"

namespace memtrace::replay {

// Events of card 0, listed one by one.
class ListedEvents : public analysis::EventSource {
 public:
  ListedEvents& Allocate(DeviceAddress address, Bytes bytes, uint64_t stream = 0) {
    return Add(trace::Allocate{.device = 0,
                               .address = address.value(),
                               .requested = bytes,
                               .allocated = RoundUp(bytes, 512),
                               .stream = stream,
                               .pool = 0,
                               .stack = 0,
                               .owner = 0,
                               .module = 0});
  }
  ListedEvents& Request(DeviceAddress address) {
    return Add(trace::FreeRequested{0, address.value()});
  }
  ListedEvents& Complete(DeviceAddress address) {
    return Add(trace::FreeCompleted{0, address.value()});
  }
  ListedEvents& Free(DeviceAddress address) { return Request(address).Complete(address); }
  ListedEvents& Map(DeviceAddress address, Bytes size, uint64_t stream = 0) {
    return Add(trace::Map{0, address.value(), size, stream});
  }
  ListedEvents& Unmap(DeviceAddress address, Bytes size) {
    return Add(trace::Unmap{0, address.value(), size});
  }
  ListedEvents& Fail(Bytes bytes, Bytes free) {
    trace::OutOfMemory failure;
    failure.requested = bytes;
    failure.allocated = bytes;
    failure.cards.emplace_back().free = free;
    return Add(failure);
  }
  ListedEvents& Sample(Bytes total, Bytes context, Bytes outside) {
    trace::CardSample sample;
    sample.card.total = total;
    sample.card.context = context;
    sample.card.outside_allocator = outside;
    return Add(sample);
  }
  ListedEvents& Add(trace::Payload payload) {
    events_.push_back({events_.size() + 1, 0, std::move(payload)});
    return *this;
  }

  void ForEach(const std::function<void(const trace::Event&)>& visit) const override {
    for (const trace::Event& event : events_) visit(event);
  }
  std::string_view String(trace::StringId) const override { return ""; }
  std::vector<trace::Frame> Stack(trace::StackId) const override { return {}; }

 private:
  std::vector<trace::Event> events_;
};

}  // namespace memtrace::replay

#endif  // MEMTRACE_TESTS_TOOLS_ANALYSIS_REPLAY_LISTED_EVENTS_H_
