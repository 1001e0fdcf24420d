// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/cards/served_card.h"

namespace memtrace {

void ServedCard::LookNow() const {
  if (!HasContext(DeviceIndex{reader->device()})) return;
  const auto memory = driver.vmm->MemoryInfo();
  if (memory.ok()) reader->Look(*memory, allocator_ledger().reserved);
}

std::optional<trace::CardLedger> ServedCard::Ledger(Bytes outside) const {
  if (reader->simulated()) return reader->Read(allocator_ledger(), outside, DeviceMemory{});
  if (!HasContext(DeviceIndex{reader->device()})) return std::nullopt;
  LookOnFirstUse();
  const auto memory = driver.vmm->MemoryInfo();
  if (!memory.ok()) return std::nullopt;
  return reader->Read(allocator_ledger(), outside, *memory);
}

}  // namespace memtrace
