// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma GCC visibility push(default)
#include "interpose/simulated_card/interface/card_control.h"
#pragma GCC visibility pop

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/driver/neighbours.h"
#include "interpose/simulated_card/interface/library_calls.h"
#include "interpose/simulated_card/spec/card_spec.h"
#include "interpose/simulated_card/spec/installed_cards.h"
#include "interpose/simulated_card/test_bed/unsupported_calls.h"
#include "interpose/simulated_card/work/code/loaded_code.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

std::atomic<memtrace_card_workspace_observer> g_workspace_observer = nullptr;

// Copies the members that the caller knows. size is the first member of both structs.
template <typename Struct>
int CopyOut(const Struct& full, Struct* out) {
  if (out == nullptr || out->size < sizeof(out->size)) return MEMTRACE_CARD_INVALID_ARGUMENT;
  const std::uint32_t known = std::min<std::uint32_t>(out->size, sizeof(Struct));
  std::memcpy(reinterpret_cast<char*>(out) + sizeof(out->size),
              reinterpret_cast<const char*>(&full) + sizeof(full.size), known - sizeof(full.size));
  return MEMTRACE_CARD_OK;
}

int Refuse(const std::string& sentence, char* error, std::size_t error_size) {
  if (error != nullptr && error_size > 0) {
    const std::size_t copied = std::min(sentence.size(), error_size - 1);
    std::memcpy(error, sentence.data(), copied);
    error[copied] = '\0';
  }
  return MEMTRACE_CARD_INVALID_ARGUMENT;
}

// Runs body(machine) if there is one.
template <typename Body>
int WithCards(Body body) {
  Machine* machine = Machine::OfProcess();
  return machine == nullptr ? MEMTRACE_CARD_NO_SUCH_DEVICE : body(*machine);
}

template <typename Body>
int WithCard(int device, Body body) {
  return WithCards([&](Machine& machine) -> int {
    if (!machine.HasDevice(device)) return MEMTRACE_CARD_NO_SUCH_DEVICE;
    return body(machine.CardAt(device)) ? MEMTRACE_CARD_OK : MEMTRACE_CARD_DOES_NOT_FIT;
  });
}

// Numbers sentences from 1.
template <typename List>
void VisitNumbered(const List& list, memtrace_card_visitor visitor, void* argument) {
  std::uint64_t number = 0;
  list([&](const std::string& sentence) { visitor(argument, sentence.c_str(), ++number); });
}

struct memtrace_card_live LiveOf(Machine& machine) {
  const LiveMemory memory = machine.space.Live();
  return {.size = sizeof(struct memtrace_card_live),
          .reserved = 0,
          .allocations = machine.heap.Live(),
          .handles = memory.handles,
          .mappings = memory.mappings,
          .reservations = memory.reservations,
          .pinned = machine.host_memory.Live(),
          .streams = machine.stream_table.Live(),
          .events = machine.events.Live()};
}

// Runs as late as a library can: after the program's own exit handlers and most destructors.
__attribute__((destructor)) void PrintLeaks() {
  if (!env::Is(env::kCardLeaks, "1") || !DriverIsInitialized()) return;
  const struct memtrace_card_live live = LiveOf(*Machine::OfProcess());
  std::fprintf(
      stderr,
      "memtrace: the program ended without freeing %llu allocations, %llu handles, %llu mappings, "
      "%llu reservations, %llu pinned ranges, %llu streams, %llu events\n",
      static_cast<unsigned long long>(live.allocations),
      static_cast<unsigned long long>(live.handles), static_cast<unsigned long long>(live.mappings),
      static_cast<unsigned long long>(live.reservations),
      static_cast<unsigned long long>(live.pinned), static_cast<unsigned long long>(live.streams),
      static_cast<unsigned long long>(live.events));
}

}  // namespace
}  // namespace memtrace::card

int memtrace_card_read_again() {
  if (Machine::IsMade()) return MEMTRACE_CARD_INVALID_ARGUMENT;
  ReadInstalledCardsAgain();
  return MEMTRACE_CARD_OK;
}

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

int memtrace_card_visit_processes(int device, memtrace_card_process_visitor visitor,
                                  void* argument) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr || !machine->HasDevice(device)) return MEMTRACE_CARD_NO_SUCH_DEVICE;
  if (visitor == nullptr) return MEMTRACE_CARD_INVALID_ARGUMENT;
  for (const ProcessMemory& other : machine->CardAt(device).sharing().OtherProcesses())
    visitor(argument, other.process, other.bytes);
  return MEMTRACE_CARD_OK;
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
    now.faults = machine->faults.Total();
    now.host_copy_bytes = copies.host_bytes;
    now.product_operations = machine->kernels.Operations();
    const memtrace_card_sent sent = SentByNccl();
    now.sent_bytes = sent.bytes;
    now.sent_bytes_network = sent.network_bytes;
    now.sends = sent.sends;
    const HostLocated host = machine->physical.host_located();
    now.host_located_bytes = host.bytes;
    now.host_located_peak = host.peak;
    now.bus_bytes = copies.bus_bytes;
    now.product_bus_bytes = machine->launch_memory.OperandBytesOnHost();
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
  std::string sentence = "no card is given; write for example 24GiB";
  if (spec != nullptr && ParseCardSpecs(spec, &cards, &sentence)) return MEMTRACE_CARD_OK;
  return Refuse(sentence, error, error_size);
}

int memtrace_card_get_events(struct memtrace_card_events* events) {
  return WithCards([&](Machine& machine) {
    const EventTiming timing = machine.progress.Timing();
    const WaitCounts counts = machine.progress.Waits();
    return CopyOut({.size = sizeof(struct memtrace_card_events),
                    .mode = static_cast<std::uint32_t>(timing.mode),
                    .questions = timing.questions,
                    .waits = counts.waits,
                    .not_ready = counts.not_ready,
                    .early = counts.early,
                    .patience = counts.patience},
                   events);
  });
}

int memtrace_card_set_events(int mode, std::uint64_t questions) {
  if (mode < MEMTRACE_CARD_EAGER || mode > MEMTRACE_CARD_DELAYED)
    return MEMTRACE_CARD_INVALID_ARGUMENT;
  return WithCards([&](Machine& machine) -> int {
    machine.progress.SetTiming({.mode = static_cast<EventMode>(mode), .questions = questions});
    return MEMTRACE_CARD_OK;
  });
}

int memtrace_card_get_live(struct memtrace_card_live* live) {
  return WithCards([&](Machine& machine) { return CopyOut(LiveOf(machine), live); });
}

int memtrace_card_resize(int device, std::uint64_t total) {
  return WithCard(device, [&](Card& card) { return card.Resize(total); });
}

int memtrace_card_set_other(int device, std::uint64_t bytes) {
  return WithCard(device, [&](Card& card) { return card.SetOther(bytes); });
}

int memtrace_card_plan_failures(const char* plan, char* error, std::size_t error_size) {
  return WithCards([&](Machine& machine) -> int {
    std::vector<PlannedFailure> failures;
    std::string sentence;
    const std::string_view text = plan == nullptr ? "" : plan;
    if (!ParsePlannedFailures(text, &failures, &sentence))
      return Refuse(sentence, error, error_size);
    machine.calls.Plan(std::move(failures));
    return MEMTRACE_CARD_OK;
  });
}

int memtrace_card_log_calls(int on) {
  return WithCards([&](Machine& machine) -> int {
    if (on != 0) {
      machine.calls.StartLog();
    } else {
      machine.calls.StopLog();
    }
    return MEMTRACE_CARD_OK;
  });
}

void memtrace_card_visit_calls(memtrace_card_visitor visitor, void* argument) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr) return;
  VisitNumbered([&](const auto& visit) { machine->calls.VisitLog(visit); }, visitor, argument);
}

int memtrace_card_note_use(std::uint64_t address, std::uint64_t bytes, void* stream, int device,
                           const char* what) {
  return WithCards([&](Machine& machine) -> int {
    if (!machine.HasDevice(device)) return MEMTRACE_CARD_NO_SUCH_DEVICE;
    if (!machine.progress.Defers()) return MEMTRACE_CARD_OK;
    Work work;
    if (machine.stream_table.LastWork(stream, device, &work) != Result::kSuccess)
      return MEMTRACE_CARD_INVALID_ARGUMENT;
    machine.uses.Used(Address{address}, bytes, work, what);
    return MEMTRACE_CARD_OK;
  });
}

void memtrace_card_visit_faults(memtrace_card_visitor visitor, void* argument) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr) return;
  VisitNumbered([&](const auto& visit) { machine->faults.Visit(visit); }, visitor, argument);
}

bool memtrace_card_find_context(const void* context, memtrace_card_context* found) {
  Machine* machine = Machine::OfProcess();
  Context* ours = nullptr;
  if (machine == nullptr || machine->contexts.Find(context, &ours) != Result::kSuccess)
    return false;
  *found = {.device = ours->device, .number = static_cast<std::uint32_t>(ours->id)};
  return true;
}

bool memtrace_card_listen(const memtrace_card_listener* listener) {
  Machine* machine = Machine::OfProcess();
  if (machine != nullptr) machine->calls.Listen(listener);
  return machine != nullptr;
}

int memtrace_card_calls_are_watched() {
  Machine* machine = Machine::OfProcess();
  return machine != nullptr && machine->calls.AreWatched() ? 1 : 0;
}

int memtrace_card_watch_call(const char* name, int (*body)(void*), void* argument) {
  WatchedCalls::Scope scope(Machine::OfProcess()->calls, name);
  return scope.Returns(scope.failure() != 0 ? scope.failure() : body(argument));
}

void memtrace_card_count_unsupported(const char* name) {
  UnsupportedCalls::OfProcess().Count(name);
}

void memtrace_card_refuse(const char* name) {
  if (!UnsupportedCalls::OfProcess().Count(name)) return;
  std::fprintf(
      stderr,
      "memtrace: the simulated card does not have %s; the call fails as \"not supported\"\n", name);
}

bool memtrace_card_create_object(void** object) {
  if (object != nullptr) *object = new char;
  return object != nullptr;
}

void memtrace_card_destroy_object(void* object) { delete static_cast<char*>(object); }

// Libraries register kernels while they are loaded, with or without a card.
void memtrace_card_register_kernel(const void* host_function, const char* name) {
  LoadedCode::OfProcess().RegisterKernel(host_function, name);
}

void memtrace_card_register_variable(const void* shadow, std::size_t bytes) {
  LoadedCode::OfProcess().RegisterVariable(shadow, bytes);
}

int memtrace_card_find_variable(const void* shadow, unsigned long long* begin, std::size_t* bytes) {
  return WithContext([&](Machine& machine, int device) {
    Address address;
    std::uint64_t size = 0;
    const Result result = machine.device_variables.Find(shadow, device, &address, &size);
    *begin = address.value();
    *bytes = size;
    return result;
  });
}

int memtrace_card_get_nccl(int device, struct memtrace_card_nccl* nccl) {
  const auto exists = [](Card&) { return true; };
  if (const int found = WithCard(device, exists); found != MEMTRACE_CARD_OK) return found;
  const memtrace_card_nccl_bytes held = MostHeldByNccl(device);
  return CopyOut(memtrace_card_nccl{.size = 0,
                                    .communicators = static_cast<std::uint32_t>(held.communicators),
                                    .charged = static_cast<std::uint64_t>(held.charged),
                                    .least = static_cast<std::uint64_t>(held.least),
                                    .most = static_cast<std::uint64_t>(held.most),
                                    .host = static_cast<std::uint64_t>(held.host)},
                 nccl);
}

void memtrace_card_set_workspace_observer(memtrace_card_workspace_observer observer) {
  g_workspace_observer.store(observer, std::memory_order_release);
}

void memtrace_card_set_owner_namer(memtrace_card_owner_namer namer) {
  LaunchMemory::NameOwnersBy(namer);
}

void memtrace_card_use_workspace(const char* library, const void* workspace, std::uint64_t bytes) {
  const auto observer = g_workspace_observer.load(std::memory_order_acquire);
  if (observer == nullptr || workspace == nullptr || bytes == 0) return;
  int current = 0;
  const int found = WithContext([&](Machine&, int device) {
    current = device;
    return Result::kSuccess;
  });
  if (found == 0) observer(current, reinterpret_cast<std::uint64_t>(workspace), bytes, library);
}
