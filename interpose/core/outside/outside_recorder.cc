// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/outside_recorder.h"

namespace memtrace {
namespace {

// Marks handles, so that the trace can tell them from addresses: no address of a card has the
// highest bit.
constexpr uint64_t kHandle = uint64_t{1} << 63;

uint64_t AddressOf(const OutsideBlock& block) {
  return block.kind == trace::OutsideKind::kPhysical ? block.address | kHandle : block.address;
}

memtrace_observed EventOf(memtrace_observed_kind kind, const OutsideBlock& block) {
  return {.size = sizeof(memtrace_observed),
          .kind = kind,
          .device = block.device,
          .address = AddressOf(block),
          .bytes = block.bytes,
          .stream = block.stream,
          .context = static_cast<uint64_t>(block.context),
          .occupied = 0,
          .unsplit = 0,
          .is_segment = 0,
          .pool_first = 0,
          .pool_second = 0};
}

}  // namespace

ObservedMemory* OutsideRecorder::TraceSubject(const OutsideBlock& block) const {
  const auto device = static_cast<size_t>(block.device);
  return IsOnCard(block.kind) && device < alone_.size() ? alone_[device] : nullptr;
}

void OutsideRecorder::Taken(const OutsideBlock& block) {
  if (ObservedMemory* alone = TraceSubject(block))
    return alone->Note(EventOf(MEMTRACE_OBSERVED_ALLOCATE, block));
  recorder_.OutsideAllocated({.device = block.device,
                              .address = AddressOf(block),
                              .bytes = block.bytes,
                              .kind = block.kind},
                             block.context);
}

void OutsideRecorder::GivenBack(const OutsideBlock& block) {
  if (ObservedMemory* alone = TraceSubject(block)) {
    alone->Note(EventOf(MEMTRACE_OBSERVED_FREE_REQUESTED, block));
    return alone->Note(EventOf(MEMTRACE_OBSERVED_FREE_COMPLETED, block));
  }
  recorder_.OutsideFreed({.device = block.device, .address = AddressOf(block), .kind = block.kind});
}

}  // namespace memtrace
