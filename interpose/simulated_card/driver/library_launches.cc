// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Kernels and calls that the card's other libraries launch.
#include <memory>

#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/interface/library_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Returns the operands; null if there are none.
std::shared_ptr<const GivenMemory> Given(const memtrace_card_operand* operands, std::size_t count) {
  if (count == 0) return nullptr;
  return std::make_shared<const GivenMemory>(
      GivenMemory{.pointers = {}, .operands = {operands, operands + count}});
}

}  // namespace
}  // namespace memtrace::card

int memtrace_card_launch_kernel(const void* host_function, void* stream,
                                const memtrace_card_launch* shape) {
  return WithContext([&](Machine& machine, int device) {
    const char* name = machine.kernels.CountLaunch(host_function);
    return machine.streams.Launch(stream, device, {.name = name, .shape = *shape});
  });
}

int memtrace_card_launch_call(const char* name, void* stream) {
  return memtrace_card_launch_product(name, stream, nullptr, 0);
}

int memtrace_card_operands_are_watched() {
  const Machine* machine = Machine::OfProcess();
  return machine != nullptr && machine->launch_memory.IsWatched() ? 1 : 0;
}

int memtrace_card_launch_product(const char* name, void* stream,
                                 const memtrace_card_operand* operands, std::size_t count) {
  const auto launch = [&](Machine& machine, int device) {
    const char* kept = machine.kernels.CountCall(name);
    return machine.streams.Launch(
        stream, device,
        {.name = kept, .shape = kMemtraceCardOneThread, .given = Given(operands, count)});
  };
  return WithContext(launch, name);
}

void memtrace_card_count_operations(std::uint64_t operations) {
  if (Machine* machine = Machine::OfProcess()) machine->kernels.CountOperations(operations);
}
