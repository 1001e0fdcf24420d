// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma GCC visibility push(default)
#include "interpose/simulated_card/interface/card_ranges.h"
#pragma GCC visibility pop

#include <algorithm>
#include <vector>

#include "interpose/simulated_card/driver/driver_api.h"
#include "interpose/simulated_card/memory/reading_thread.h"

using namespace memtrace::card;  // NOLINT: this file defines C functions over that namespace

namespace memtrace::card {
namespace {

// Returns an empty list if a part of the range is not mapped. A mapping without access still has
// contents.
std::vector<Extent> Extents(Machine* machine, Address begin, std::uint64_t bytes) {
  std::vector<Extent> extents;
  if (machine == nullptr || bytes == 0) return extents;
  const Result found = machine->space.Translate(begin, bytes, Access::kRead, &extents);
  return found == Result::kSuccess ? extents : std::vector<Extent>{};
}

}  // namespace
}  // namespace memtrace::card

// A card made with MEMTRACE_HOST_VALUES=0 keeps no values: all bytes are unknown.
int memtrace_card_known_at(std::uint64_t address, std::uint64_t bytes) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr || machine->known == nullptr) return MEMTRACE_CARD_UNKNOWN;
  const std::vector<Extent> extents = Extents(machine, Address{address}, bytes);
  return extents.empty() ? MEMTRACE_CARD_UNKNOWN
                         : static_cast<int>(machine->known->Weakest(extents));
}

void memtrace_card_read_known(std::uint64_t address, std::uint64_t bytes, char* states) {
  Machine* machine = Machine::OfProcess();
  std::fill_n(states, bytes, static_cast<char>(MEMTRACE_CARD_UNKNOWN));
  if (machine == nullptr || machine->known == nullptr) return;
  const std::vector<Extent> extents = Extents(machine, Address{address}, bytes);
  if (!extents.empty()) machine->known->Read(extents, {states, bytes});
}

void memtrace_card_set_known(std::uint64_t address, std::uint64_t bytes, int known) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr || machine->known == nullptr) return;
  const int clamped = std::clamp<int>(known, MEMTRACE_CARD_UNKNOWN, MEMTRACE_CARD_KNOWN);
  const std::vector<Extent> extents = Extents(machine, Address{address}, bytes);
  if (!extents.empty()) machine->known->Set(extents, static_cast<Known>(clamped));
}

int memtrace_card_clear(std::uint64_t address, std::uint64_t bytes) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr || machine->known == nullptr) return 0;
  const std::vector<Extent> extents = Extents(machine, Address{address}, bytes);
  for (const Extent& extent : extents) {
    if (!machine->file.Clear(extent)) return 0;
  }
  machine->known->Set(extents, Known::kKnown);
  return extents.empty() ? 0 : 1;
}

void memtrace_card_hand_out(std::uint64_t address, std::uint64_t bytes) {
  Machine* machine = Machine::OfProcess();
  if (machine == nullptr || machine->kernel_writes == nullptr || bytes == 0) return;
  memtrace_card_set_known(address, bytes, MEMTRACE_CARD_UNKNOWN);
  machine->kernel_writes->HandOut(Address{address}, bytes);
}

int memtrace_card_read(std::uint64_t address, std::uint64_t bytes, void* to) {
  Machine* machine = Machine::OfProcess();
  const std::vector<Extent> extents = Extents(machine, Address{address}, bytes);
  auto* at = static_cast<std::byte*>(to);
  for (const Extent& extent : extents) {
    if (!machine->file.Read(extent.offset, {at, static_cast<std::size_t>(extent.bytes)})) return 0;
    at += extent.bytes;
  }
  return extents.empty() ? 0 : 1;
}

int memtrace_card_write(std::uint64_t address, std::uint64_t bytes, const void* from) {
  Machine* machine = Machine::OfProcess();
  const std::vector<Extent> extents = Extents(machine, Address{address}, bytes);
  const auto* at = static_cast<const std::byte*>(from);
  for (const Extent& extent : extents) {
    if (!machine->file.Write(extent.offset, {at, static_cast<std::size_t>(extent.bytes)})) return 0;
    at += extent.bytes;
  }
  return extents.empty() ? 0 : 1;
}

struct memtrace_card_thread_state* memtrace_card_thread() {
  return &ReadingThread();
}

void memtrace_card_reads(std::uint64_t reads[3]) {
  Machine* machine = Machine::OfProcess();
  for (int known = 0; known < 3; ++known) {
    reads[known] = machine == nullptr ? 0 : machine->copies.Reads(static_cast<Known>(known));
  }
}
