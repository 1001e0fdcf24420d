// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/driver/telling.h"

namespace memtrace::card {
namespace {

memtrace_card_memory_kind KindOf(Machine& machine, Address address) {
  if (AddressRanges::Contains(address)) return MEMTRACE_CARD_DEVICE;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA passes pointers as numbers.
  const auto* on_host = reinterpret_cast<const void*>(address.value());
  if (machine.host_memory.Find(on_host)) return MEMTRACE_CARD_PINNED;
  if (machine.managed.Find(on_host)) return MEMTRACE_CARD_MANAGED;
  return MEMTRACE_CARD_PAGEABLE;
}

// Returns the card that has the memory; for host memory, the card whose stream works on it.
int DeviceOf(Machine& machine, Address address, int otherwise) {
  const auto mapped = machine.space.Find(address);
  return mapped.has_value() ? mapped->device : otherwise;
}

memtrace_card_event WorkIn(const Work& at, memtrace_card_event_kind kind) {
  return EventOf(kind, at.stream->device, at.stream->id);
}

void TellMemory(Machine& machine, memtrace_card_event_kind kind, const ToldMemory& memory) {
  if (!machine.listening.IsOn()) return;
  Stream described;
  machine.stream_table.Describe(memory.stream, memory.device, &described);
  memtrace_card_event event = EventOf(kind, memory.device, described.id);
  event.address = memory.address.value();
  event.bytes = memory.bytes;
  event.to = memory.kind;
  event.is_async = memory.is_async;
  event.object = memory.pool;
  machine.listening.Notify(event);
}

}  // namespace

void TellCopy(Machine& machine, const Work& at, Address to, Address from, std::uint64_t bytes,
              bool is_async) {
  if (!machine.listening.IsOn()) return;
  memtrace_card_event event = WorkIn(at, MEMTRACE_CARD_COPY);
  event.address = to.value();
  event.bytes = bytes;
  event.from = KindOf(machine, from);
  event.to = KindOf(machine, to);
  event.from_device = DeviceOf(machine, from, event.device);
  event.to_device = DeviceOf(machine, to, event.device);
  event.is_async = is_async;
  machine.listening.Notify(event);
}

void TellFill(Machine& machine, const Work& at, Address to, std::uint64_t bytes,
              std::uint32_t value, bool is_async) {
  if (!machine.listening.IsOn()) return;
  memtrace_card_event event = WorkIn(at, MEMTRACE_CARD_FILL);
  event.address = to.value();
  event.bytes = bytes;
  event.value = value;
  event.to = KindOf(machine, to);
  event.is_async = is_async;
  machine.listening.Notify(event);
}

void TellWait(Machine& machine, memtrace_card_event_kind kind, int device, const Waited& waited) {
  if (!machine.listening.IsOn()) return;
  Stream described;
  machine.stream_table.Describe(waited.stream, device, &described);
  const int of_stream = waited.stream == nullptr ? device : described.device;
  memtrace_card_event event = EventOf(kind, of_stream, described.id);
  event.object = waited.event;
  machine.listening.Notify(event);
}

void TellAllocated(Machine& machine, const ToldMemory& memory) {
  TellMemory(machine, MEMTRACE_CARD_ALLOCATED, memory);
}

void TellReleased(Machine& machine, const ToldMemory& memory) {
  TellMemory(machine, MEMTRACE_CARD_RELEASED, memory);
}

void TellContext(Machine& machine, memtrace_card_event_kind kind, const Context& context) {
  if (!machine.listening.IsOn()) return;
  memtrace_card_event event = EventOf(kind, context.device);
  event.object = &context;
  machine.listening.Notify(event);
}

void TellStream(Machine& machine, memtrace_card_event_kind kind, int device, const void* stream) {
  if (!machine.listening.IsOn()) return;
  Stream described;
  if (machine.stream_table.Describe(stream, device, &described) != Result::kSuccess) return;
  if (described.id == 0) return;  // default streams are neither made nor destroyed
  memtrace_card_event event = EventOf(kind, described.device, described.id);
  event.flags = described.flags;
  event.priority = described.priority;
  event.object = stream;
  machine.listening.Notify(event);
}

}  // namespace memtrace::card
