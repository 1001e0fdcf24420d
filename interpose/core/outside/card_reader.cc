// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/outside/card_reader.h"

#include <dlfcn.h>

#include <algorithm>
#include <string_view>

#include "interpose/simulated_card/interface/card_control.h"
#include "profiler/trace/vocabulary/facts.h"

namespace memtrace {
namespace {

// The simulated card's own functions; all null on a real card.
struct CardControl {
  decltype(&memtrace_card_ledger) ledger = nullptr;
  decltype(&memtrace_card_visit_processes) visit_processes = nullptr;
  decltype(&memtrace_card_activity) activity = nullptr;
  decltype(&memtrace_card_visit_unsupported) visit_unsupported = nullptr;
  decltype(&memtrace_card_visit_faults) visit_faults = nullptr;
  decltype(&memtrace_card_get_events) get_events = nullptr;
  decltype(&memtrace_card_visit_kernels) visit_kernels = nullptr;
  decltype(&memtrace_card_count) count = nullptr;
  decltype(&memtrace_card_get_nccl) get_nccl = nullptr;

  CardControl() {
    void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
    if (driver == nullptr) return;
    Find(driver, ledger, "memtrace_card_ledger");
    Find(driver, visit_processes, "memtrace_card_visit_processes");
    Find(driver, activity, "memtrace_card_activity");
    Find(driver, visit_unsupported, "memtrace_card_visit_unsupported");
    Find(driver, visit_faults, "memtrace_card_visit_faults");
    Find(driver, get_events, "memtrace_card_get_events");
    Find(driver, visit_kernels, "memtrace_card_visit_kernels");
    Find(driver, count, "memtrace_card_count");
    Find(driver, get_nccl, "memtrace_card_get_nccl");
  }

  template <typename Function>
  static void Find(void* driver, Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(driver, name));
  }
};

const CardControl& Control() {
  static const auto* control = new CardControl;
  return *control;
}

constexpr uint64_t kMostFaultsTold = 3;

// On an H200 with driver 580 a context takes 527 MiB; with all of torch's libraries loaded 0.9 GiB,
// and with NCCL 1.7 GiB (tests/gpu/recordings/h200/context_growth.json).
constexpr Bytes kUsualContext = Bytes{527} << 20;
constexpr Bytes kLargestContext = Bytes{2} << 30;

// Adds which answers the card gave about time, and how often the other timing would have given a
// different answer.
void AddTiming(std::map<std::string, std::string>& facts) {
  struct memtrace_card_events events {};
  events.size = sizeof(events);
  if (Control().get_events == nullptr || Control().get_events(&events) != MEMTRACE_CARD_OK) return;
  const bool eager = events.mode == MEMTRACE_CARD_EAGER;
  facts[std::string(trace::fact::kSimulationEvents)] = eager ? "eager"
                                                       : events.mode == MEMTRACE_CARD_LAZY
                                                           ? "lazy"
                                                           : "delayed";
  facts[std::string(trace::fact::kSimulationAnswersThatDependOnTime)] =
      std::to_string(eager ? events.early : events.not_ready);
  facts[std::string(trace::fact::kSimulationWaits)] = std::to_string(events.waits);
}

void AddFaults(std::map<std::string, std::string>& facts) {
  if (Control().visit_faults == nullptr) return;
  Control().visit_faults(
      [](void* user, const char* sentence, uint64_t number) {
        if (number > kMostFaultsTold) return;
        (*static_cast<std::map<std::string, std::string>*>(
            user))[trace::fact::kSimulationFault.Of(number)] = sentence;
      },
      &facts);
}

void AddNccl(std::map<std::string, std::string>& facts) {
  if (Control().get_nccl == nullptr || Control().count == nullptr) return;
  for (int device = 0; device < Control().count(); ++device) {
    struct memtrace_card_nccl bytes {};
    bytes.size = sizeof(bytes);
    if (Control().get_nccl(device, &bytes) != MEMTRACE_CARD_OK || bytes.charged == 0) continue;
    facts[trace::fact::kSimulationNccl.Of(device)] =
        std::to_string(bytes.charged) + " " + std::to_string(bytes.least) + " " +
        std::to_string(bytes.most) + " " + std::to_string(bytes.communicators) + " " +
        std::to_string(bytes.host);
  }
}

// Adds nothing for a process that sent nothing.
void AddSent(const struct memtrace_card_activity& activity,
             std::map<std::string, std::string>& facts) {
  if (activity.sent_bytes + activity.sent_bytes_network + activity.sends == 0) return;
  facts[std::string(trace::fact::kSimulationSentBytes)] = std::to_string(activity.sent_bytes);
  facts[std::string(trace::fact::kSimulationSentBytesNetwork)] =
      std::to_string(activity.sent_bytes_network);
  facts[std::string(trace::fact::kSimulationSends)] = std::to_string(activity.sends);
}

// Adds nothing for a process that has used no memory of the host at addresses of a card.
void AddBus(const struct memtrace_card_activity& activity,
            std::map<std::string, std::string>& facts) {
  if (activity.host_located_peak == 0) return;
  facts[std::string(trace::fact::kSimulationBusBytes)] = std::to_string(activity.bus_bytes);
  facts[std::string(trace::fact::kSimulationProductBusBytes)] =
      std::to_string(activity.product_bus_bytes);
}

// True for libraries whose workspace sizes the card computes by an assumed rule.
bool HasAssumedWorkspace(std::string_view call) {
  return call.starts_with("cuDNN") || call.starts_with("cudnn") || call.starts_with("cusolver") ||
         call.starts_with("cufft");
}

uint64_t CallsWithAssumedWorkspaces() {
  uint64_t calls = 0;
  Control().visit_kernels(
      [](void* user, const char* name, uint64_t count) {
        if (HasAssumedWorkspace(name)) *static_cast<uint64_t*>(user) += count;
      },
      &calls);
  return calls;
}

}  // namespace

void CardReader::Look(DeviceMemory now, Bytes reserved) {
  if (has_looked()) return;
  const Bytes used = now.total - now.free;
  const Bytes gone = used - std::min(used, reserved);
  const bool is_shared = !simulated() && gone > kLargestContext;
  if (is_shared) is_shared_.store(true, std::memory_order_relaxed);
  Bytes expected = kNotSeen;
  context_.compare_exchange_strong(expected, is_shared ? kUsualContext : gone);
}

bool CardReader::simulated() const { return Control().ledger != nullptr; }

std::vector<LaunchProcess> CardReader::OtherProcesses() const {
  std::vector<LaunchProcess> others;
  if (Control().visit_processes == nullptr) return others;
  Control().visit_processes(
      device_,
      [](void* user, uint32_t process, uint64_t bytes) {
        static_cast<std::vector<LaunchProcess>*>(user)->push_back(
            {.pid = static_cast<pid_t>(process), .bytes = bytes});
      },
      &others);
  return others;
}

trace::CardLedger CardReader::Read(const AllocatorLedger& allocator, Bytes outside,
                                   DeviceMemory now) const {
  trace::CardLedger card;
  card.device = device_;
  card.total = now.total;
  card.free = now.free;
  card.reserved = allocator.reserved;
  card.live_requested = allocator.live_requested;
  card.live_allocated = allocator.live_allocated;
  card.stream_wait = allocator.stream_wait;
  card.cached = allocator.cached;
  card.holes = allocator.holes;
  card.private_pools = allocator.pinned;
  card.largest_hole = allocator.largest_hole;
  card.asleep = allocator.asleep;
  card.on_host = allocator.on_host;
  card.host_copies = allocator.host_copies;
  card.host_pooled = allocator.host_pooled;
  card.context = has_looked() ? context_.load() : 0;
  card.outside_allocator = outside;
  if (is_shared_.load(std::memory_order_relaxed)) {
    const Bytes used = now.total - now.free;
    const Bytes ours = card.context + card.reserved + outside;
    card.other_processes = used - std::min(used, ours);
  }
  struct memtrace_card_ledger simulated_ledger {};
  simulated_ledger.size = sizeof(simulated_ledger);
  if (simulated() && Control().ledger(device_, &simulated_ledger) == MEMTRACE_CARD_OK) {
    card.total = simulated_ledger.total;
    card.free = simulated_ledger.free;
    card.context = simulated_ledger.context;
    card.other_processes = simulated_ledger.other;
    const Bytes charged = simulated_ledger.runtime_allocated + simulated_ledger.vmm_allocated;
    card.outside_allocator = charged - std::min(charged, allocator.reserved);
  }
  return card;
}

std::map<std::string, std::string> SimulationFacts() {
  std::map<std::string, std::string> facts;
  struct memtrace_card_activity activity {};
  activity.size = sizeof(activity);
  if (Control().activity == nullptr || Control().activity(&activity) != MEMTRACE_CARD_OK)
    return facts;
  facts[std::string(trace::fact::kSimulationKernelLaunches)] =
      std::to_string(activity.kernel_launches);
  facts[std::string(trace::fact::kSimulationDeviceToHostCopies)] =
      std::to_string(activity.device_to_host_copies);
  facts[std::string(trace::fact::kSimulationCopiesDropped)] =
      std::to_string(activity.copies_dropped);
  facts[std::string(trace::fact::kSimulationHostCopyBytes)] =
      std::to_string(activity.host_copy_bytes);
  facts[std::string(trace::fact::kSimulationProductOperations)] =
      std::to_string(activity.product_operations);
  facts[std::string(trace::fact::kSimulationFaults)] = std::to_string(activity.faults);
  facts[std::string(trace::fact::kSimulationUnsupportedCalls)] =
      std::to_string(activity.unsupported_calls);
  if (const uint64_t calls = CallsWithAssumedWorkspaces(); calls > 0)
    facts[std::string(trace::fact::kSimulationAssumedWorkspaces)] = std::to_string(calls);
  Control().visit_unsupported(
      [](void* user, const char* name, uint64_t count) {
        (*static_cast<std::map<std::string, std::string>*>(
            user))[trace::fact::kSimulationUnsupported.Of(name)] = std::to_string(count);
      },
      &facts);
  AddSent(activity, facts);
  AddBus(activity, facts);
  AddTiming(facts);
  AddFaults(facts);
  AddNccl(facts);
  return facts;
}

}  // namespace memtrace
