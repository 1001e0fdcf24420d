// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma GCC visibility push(default)
#include "interpose/simulated_card/card_control.h"
#pragma GCC visibility pop

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "interpose/simulated_card/card_spec.h"
#include "interpose/simulated_card/driver_api.h"
#include "interpose/simulated_card/library_calls.h"
#include "interpose/simulated_card/unsupported_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Gives the caller the members that it knows. size is the first member of both structs.
template <typename Struct>
int CopyOut(const Struct& full, Struct* out) {
  if (out == nullptr || out->size < sizeof(out->size)) return MEMTRACE_CARD_INVALID_ARGUMENT;
  const std::uint32_t known = std::min<std::uint32_t>(out->size, sizeof(Struct));
  std::memcpy(reinterpret_cast<char*>(out) + sizeof(out->size),
              reinterpret_cast<const char*>(&full) + sizeof(full.size), known - sizeof(full.size));
  return MEMTRACE_CARD_OK;
}

}  // namespace
}  // namespace memtrace::card

int memtrace_card_count() {
  Machine* machine = Machine::OfProcess();
  return machine == nullptr ? 0 : machine->DeviceCount();
}

int memtrace_card_ledger(int device, struct memtrace_card_ledger* ledger) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr || !machine->HasDevice(device)) return MEMTRACE_CARD_NO_SUCH_DEVICE;
  Card& card = machine->CardAt(device);
  const Ledger now = card.CurrentLedger();
  return CopyOut(
      {
          .size = sizeof(struct memtrace_card_ledger),
          .context_active = card.HasContext() ? 1u : 0u,
          .total = now.total,
          .context = now.context,
          .other = now.other,
          .runtime_allocated = now.runtime,
          .vmm_allocated = now.vmm,
          .free = now.free,
          .peak = now.peak,
      },
      ledger);
}

int memtrace_card_activity(struct memtrace_card_activity* activity) {
  struct memtrace_card_activity now = {};
  now.unsupported_calls = UnsupportedCalls::OfProcess().Total();
  if (Machine* machine = Machine::OfProcess()) {
    const CopyCounts copies = machine->copies.Counts();
    now.kernel_launches = machine->kernels.Launches();
    now.copies_executed = copies.executed;
    now.copies_dropped = copies.dropped;
    now.bytes_dropped = copies.bytes_dropped;
    now.device_to_host_copies = copies.device_to_host;
    now.faults = copies.faults;
  }
  return CopyOut(now, activity);
}

void memtrace_card_visit_unsupported(memtrace_card_visitor visitor, void* argument) {
  UnsupportedCalls::OfProcess().Visit([&](const std::string& name, std::uint64_t count) {
    visitor(argument, name.c_str(), count);
  });
}

void memtrace_card_visit_kernels(memtrace_card_visitor visitor, void* argument) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr) return;
  machine->kernels.Visit([&](const std::string& name, std::uint64_t count) {
    visitor(argument, name.c_str(), count);
  });
}

int memtrace_card_check(const char* spec, char* error, std::size_t error_size) {
  std::vector<CardSpec> cards;
  std::string sentence = "no card is named; write for example 24GiB";
  if (spec != nullptr && ParseCardSpecs(spec, &cards, &sentence)) return MEMTRACE_CARD_OK;
  if (error != nullptr && error_size > 0) {
    const std::size_t copied = std::min(sentence.size(), error_size - 1);
    std::memcpy(error, sentence.data(), copied);
    error[copied] = '\0';
  }
  return MEMTRACE_CARD_INVALID_ARGUMENT;
}

void memtrace_card_count_unsupported(const char* name) {
  UnsupportedCalls::OfProcess().Count(name);
}

// Libraries register while they are loaded, with or without a card.
void memtrace_card_register_kernel(const void* host_function, const char* name) {
  if (Machine* machine = Machine::OfProcess()) machine->kernels.Register(host_function, name);
}

void memtrace_card_register_variable(const void* shadow, std::size_t bytes) {
  if (Machine* machine = Machine::OfProcess()) machine->device_variables.Register(shadow, bytes);
}

int memtrace_card_find_variable(const void* shadow, unsigned long long* begin, std::size_t* bytes) {
  return WithContext([&](Machine& machine, int device) {
    Address address = 0;
    std::uint64_t size = 0;
    const Result result = machine.device_variables.Find(shadow, device, &address, &size);
    *begin = address;
    *bytes = size;
    return result;
  });
}

int memtrace_card_launch_kernel(const void* host_function, void* stream) {
  return WithContext([&](Machine& machine, int device) {
    machine.kernels.CountLaunch(host_function);
    return machine.streams.Submit(stream, device);
  });
}

int memtrace_card_launch_call(const char* name, void* stream) {
  return WithContext([&](Machine& machine, int device) {
    machine.kernels.CountCall(name);
    return machine.streams.Submit(stream, device);
  });
}
