// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/sleeping_owners.h"

#include <dlfcn.h>

#include <string_view>

#include "interpose/core/abi_border.h"
#include "interpose/core/cards/movable_memory.h"
#include "interpose/core/process.h"
#include "interpose/simulated_card/interface/card_control.h"

namespace memtrace {

int FindSleepingOwner(uint64_t address, char* name, uint64_t size) {
  if (!Sleep::is_any_asleep()) return 0;
  return Contain(0, [&]() -> int {
    Process& process = Process::Get();
    const MovableOwner owner = MovableMemory(process.cards()).OwnerAsleepAt(DeviceAddress{address});
    if (owner == MovableOwner{}) return 0;
    const std::string_view text = process.names().Text(static_cast<uint32_t>(owner));
    name[text.copy(name, size - 1)] = '\0';
    return 1;
  });
}

void NameSleepingOwnersInFaults() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_NOW);
  if (driver == nullptr) return;
  const auto set_namer = reinterpret_cast<decltype(&memtrace_card_set_owner_namer)>(
      dlsym(driver, "memtrace_card_set_owner_namer"));
  if (set_namer != nullptr) set_namer(FindSleepingOwner);
}

}  // namespace memtrace
