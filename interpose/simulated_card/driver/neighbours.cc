// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// What our NCCL asks of cards and tells of the memory that it takes there.
#include "interpose/simulated_card/driver/neighbours.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "base/mutex.h"
#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/interface/library_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Bytes that the communicators of this process hold of a card now, and when it was most.
struct HeldByNccl {
  memtrace_card_nccl_bytes now = {};
  memtrace_card_nccl_bytes at_most = {};
};

struct NcclTable {
  Mutex mutex;
  std::array<HeldByNccl, kMaxCards> cards = {};  // guarded by mutex
};

NcclTable& OfProcess() {
  static auto* table = new NcclTable;  // never destroyed: communicators end at the very end
  return *table;
}

struct SentCounts {
  std::atomic<std::uint64_t> bytes = 0;
  std::atomic<std::uint64_t> network_bytes = 0;
  std::atomic<std::uint64_t> sends = 0;
};
SentCounts g_sent;

bool IsCard(int device) { return device >= 0 && static_cast<std::size_t>(device) < kMaxCards; }

}  // namespace

memtrace_card_nccl_bytes MostHeldByNccl(int device) {
  if (!IsCard(device)) return {};
  NcclTable& table = OfProcess();
  const MutexLock lock(table.mutex);
  return table.cards[static_cast<std::size_t>(device)].at_most;
}

memtrace_card_sent SentByNccl() {
  return {.bytes = g_sent.bytes.load(std::memory_order_relaxed),
          .network_bytes = g_sent.network_bytes.load(std::memory_order_relaxed),
          .sends = g_sent.sends.load(std::memory_order_relaxed)};
}

}  // namespace memtrace::card

bool memtrace_card_describe_neighbours(int device, memtrace_card_neighbours* described) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr || !machine->HasDevice(device)) return false;
  const CardSpec& spec = InstalledCards()[machine->CardAt(device).sharing().LedgerIndex()];
  *described = {
      .link = static_cast<int>(spec.link),
      .nccl_channels = spec.nccl_channels,
      .compute_capability = 10 * spec.compute_capability_major + spec.compute_capability_minor,
      .states_bytes = spec.nccl_bytes.has_value(),
      .bytes = spec.nccl_bytes.value_or(0)};
  return true;
}

void memtrace_card_count_nccl(int device, const memtrace_card_nccl_bytes* more) {
  if (!IsCard(device)) return;
  NcclTable& table = OfProcess();
  const memtrace::MutexLock lock(table.mutex);
  auto& [now, at_most] = table.cards[static_cast<std::size_t>(device)];
  now.charged += more->charged;
  now.least += more->least;
  now.most += more->most;
  now.communicators += more->communicators;
  now.host += more->host;
  const std::int64_t most_host = std::max(now.host, at_most.host);
  if (now.charged > at_most.charged) at_most = now;
  at_most.host = most_host;
}

void memtrace_card_count_sent(const memtrace_card_sent* more) {
  g_sent.bytes.fetch_add(more->bytes, std::memory_order_relaxed);
  g_sent.network_bytes.fetch_add(more->network_bytes, std::memory_order_relaxed);
  g_sent.sends.fetch_add(more->sends, std::memory_order_relaxed);
}
