// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace.h about memory that moved to the host.
#include <utility>
#include <vector>

#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/memtrace.h"

extern "C" {

int memtrace_get_spilled(int device, memtrace_spilled* spilled) {
  if (!memtrace::HasSize(spilled)) return memtrace::Missing("spilled");
  return memtrace::WithCard(device, [&](memtrace::CachingAllocator& allocator) {
    memtrace::SpillPolicy& policy = memtrace::Process::Get().spill_policy();
    const memtrace::SpillPolicy::Counts counts = policy.counts(device);
    memtrace::Spill& spill = allocator.movement().spill();
    memtrace::WriteCommonPart(spilled, memtrace_spilled{.size = sizeof(memtrace_spilled),
                                                        .is_on = policy.IsOn(device) ? 1 : 0,
                                                        .limit = spill.limit(),
                                                        .on_host = spill.on_host(),
                                                        .moved = counts.moved,
                                                        .came_back = counts.came_back,
                                                        .times = counts.times});
    return static_cast<int>(MEMTRACE_OK);
  });
}

void memtrace_set_before_spill(void (*callback)(void* user), void* user) {
  memtrace::Contain([&] { memtrace::Process::Get().spill_policy().before().Set(callback, user); });
}

void memtrace_note_idle(int device, const uint64_t* addresses, uint64_t count) {
  memtrace::Contain([&] {
    std::vector<memtrace::DeviceAddress> noted;
    noted.reserve(count);
    for (uint64_t i = 0; i < count; ++i) noted.push_back(memtrace::DeviceAddress{addresses[i]});
    memtrace::Process::Get().spill_policy().NoteIdle(device, std::move(noted));
  });
}

int memtrace_follow_uses(void) {
  int is_wanted = 0;
  memtrace::Contain([&] {
    memtrace::Process& process = memtrace::Process::Get();
    if (process.activities() == nullptr || !process.spill_policy().IsOnAnyCard()) return;
    process.recorder()->uses().Follow();
    is_wanted = 1;
  });
  return is_wanted;
}

void memtrace_note_uses(const uint64_t* addresses, uint64_t count) {
  if (auto* recorder = memtrace::Process::Get().recorder())
    recorder->uses().Note({addresses, count});
}

}  // extern "C"
