// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// What our NVML asks: cards as the machine has them, whatever CUDA shows of them to the process.
#include <algorithm>
#include <cstring>

#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/interface/library_calls.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Returns null if the card is not visible to the process.
Card* FindVisible(std::size_t card) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr) return nullptr;
  const auto is_it = [card](const auto& ours) { return ours->sharing().LedgerIndex() == card; };
  const auto found = std::find_if(machine->cards.begin(), machine->cards.end(), is_it);
  return found == machine->cards.end() ? nullptr : found->get();
}

void CopyText(const std::string& text, std::span<char> room) {
  const std::size_t copied = std::min(text.size(), room.size() - 1);
  std::memcpy(room.data(), text.data(), copied);
  room[copied] = '\0';
}

}  // namespace
}  // namespace memtrace::card

int memtrace_card_installed_count() { return static_cast<int>(InstalledCards().size()); }

bool memtrace_card_describe_installed(int card, memtrace_card_installed* described) {
  if (card < 0 || card >= memtrace_card_installed_count()) return false;
  const auto index = static_cast<std::size_t>(card);
  const CardSpec& spec = InstalledCards()[index];
  *described = {};
  described->total = spec.bytes;
  described->used = spec.other_bytes;
  described->compute_capability_major = spec.compute_capability_major;
  described->compute_capability_minor = spec.compute_capability_minor;
  CopyText(NameOf(spec), described->name);
  CopyText(UuidTextOf(index), described->uuid);
  if (Card* visible = FindVisible(index)) {
    const Ledger now = visible->CurrentLedger();
    described->total = now.total;
    described->used = now.total - now.free;
    described->own = now.context + now.runtime + now.vmm;
    described->has_context = visible->HasContext() ? 1 : 0;
  }
  return true;
}

std::size_t memtrace_card_other_processes(int card, memtrace_card_process* processes,
                                          std::size_t room) {
  const Card* visible = FindVisible(static_cast<std::size_t>(card));
  if (visible == nullptr) return 0;
  const std::vector<ProcessMemory> others = visible->sharing().OtherProcesses();
  for (std::size_t i = 0; i < std::min(room, others.size()); ++i) {
    processes[i] = {.bytes = others[i].bytes, .process = others[i].process};
  }
  return others.size();
}
