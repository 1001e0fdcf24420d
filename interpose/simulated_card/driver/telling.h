// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_TELLING_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_TELLING_H_

#include <cstddef>
#include <cstdint>

#include "interpose/simulated_card/machine.h"

namespace memtrace::card {

// Reports what the driver's functions do to a listener, in addition to the kernels that Streams
// reports. Without a listener each costs one look at a flag. Call them after success.

void TellCopy(Machine& machine, const Work& at, Address to, Address from, std::uint64_t bytes,
              bool is_async);
void TellFill(Machine& machine, const Work& at, Address to, std::uint64_t bytes,
              std::uint32_t value, bool is_async);

// The object of a wait by a stream or the host, or a recorded event.
struct Waited {
  const void* stream = nullptr;
  const void* event = nullptr;
};
void TellWait(Machine& machine, memtrace_card_event_kind kind, int device, const Waited& waited);

// One range of memory, allocated or released.
struct ToldMemory {
  int device = 0;
  Address address;
  std::uint64_t bytes = 0;
  memtrace_card_memory_kind kind = MEMTRACE_CARD_DEVICE;
  const void* stream = nullptr;
  const void* pool = nullptr;
  bool is_async = false;
};
void TellAllocated(Machine& machine, const ToldMemory& memory);
void TellReleased(Machine& machine, const ToldMemory& memory);

void TellContext(Machine& machine, memtrace_card_event_kind kind, const Context& context);
void TellStream(Machine& machine, memtrace_card_event_kind kind, int device, const void* stream);

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_DRIVER_TELLING_H_
