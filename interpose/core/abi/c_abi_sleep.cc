// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace.h about memory that sleeps and wakes.
#include "interpose/core/abi/source_call.h"
#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/cards/movable_memory.h"
#include "interpose/core/cards/movable_scopes.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/sleeping_owners.h"

namespace memtrace {
namespace {

memtrace_sleep_refusal RefusalOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return MEMTRACE_SLEEP_NOT_REFUSED;
    case absl::StatusCode::kNotFound:
      return MEMTRACE_SLEEP_UNKNOWN;
    case absl::StatusCode::kAlreadyExists:
      return MEMTRACE_SLEEP_ASLEEP;
    case absl::StatusCode::kUnavailable:
      return MEMTRACE_SLEEP_CAPTURE;
    case absl::StatusCode::kFailedPrecondition:
      return MEMTRACE_SLEEP_SHARED;
    case absl::StatusCode::kResourceExhausted:
      return MEMTRACE_SLEEP_NO_ROOM;
    default:
      return MEMTRACE_SLEEP_BY_DRIVER;
  }
}

void Record(const MovableMemory& memory, trace::MoveKind kind, uint32_t name) {
  const std::string owner(Process::Get().names().Text(name));
  for (const MovableMemory::CardMove& move : memory.moves()) {
    const trace::Moved moved{.device = move.device,
                             .kind = kind,
                             .bytes = move.moved.bytes,
                             .host_bytes = move.moved.host,
                             .duration_ns = static_cast<uint64_t>(move.duration.count())};
    Process::Get().notes().Moved(moved, owner);
  }
}

// Calls `move(cards' memory, result)` for the owner of that name, and writes the result.
template <typename Move>
int Report(memtrace_moved* moved, uint32_t name, trace::MoveKind kind, Move move) {
  if (!HasSize(moved)) return Missing("moved");
  if (SourceCall::IsRunning())
    return Fail(MEMTRACE_UNSUPPORTED, "a pool's own allocator must not call this function");
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&]() -> int {
    if (Process::Get().cards().is_forked()) return NoSuchCard(0);
    MovableMemory memory(Process::Get().cards());
    Sleep::Moved result;
    const absl::Status status = move(memory, result);
    Record(memory, kind, name);
    WriteCommonPart(moved, memtrace_moved{.size = sizeof(memtrace_moved),
                                          .refusal = RefusalOf(status),
                                          .bytes = result.bytes,
                                          .host_bytes = result.host,
                                          .needed = result.needed,
                                          .available = result.available,
                                          .shared_blocks = result.shared,
                                          .is_pinned = result.is_pinned ? 1 : 0,
                                          .has_graph = result.has_graph ? 1 : 0});
    return Translate(status);
  });
}

memtrace_movable OwnerToAbi(const Sleep::Owner& owner, const char* name) {
  return {.size = sizeof(memtrace_movable),
          .is_asleep = owner.is_asleep ? 1 : 0,
          .keep = owner.keep == Sleep::Keep::kHost ? MEMTRACE_KEEP_HOST : MEMTRACE_KEEP_NOTHING,
          .on_card = owner.on_card,
          .asleep = owner.asleep,
          .host = owner.host,
          .name = name};
}

}  // namespace
}  // namespace memtrace

using memtrace::Contain;
using memtrace::MovableMemory;
using memtrace::MovableOwner;
using memtrace::Process;
using memtrace::Sleep;
using memtrace::trace::MoveKind;

extern "C" {

void memtrace_push_movable(uint32_t name) {
  Contain([&] {
    memtrace::MovableScopes::Push(name);
    Process::Get().cards().UseNoShortcut();
  });
}

void memtrace_pop_movable() {
  Contain([] { memtrace::MovableScopes::Pop(); });
}

int memtrace_sleep(uint32_t name, int keep, memtrace_moved* moved) {
  const auto kept = keep == MEMTRACE_KEEP_HOST ? Sleep::Keep::kHost : Sleep::Keep::kNothing;
  return memtrace::Report(moved, name, MoveKind::kSlept,
                          [&](MovableMemory& memory, Sleep::Moved& result) {
                            return memory.PutToSleep(MovableOwner{name}, kept, result);
                          });
}

int memtrace_wake(uint32_t name, memtrace_moved* moved) {
  return memtrace::Report(moved, name, MoveKind::kWoke,
                          [&](MovableMemory& memory, Sleep::Moved& result) {
                            return memory.Wake(MovableOwner{name}, result);
                          });
}

int memtrace_visit_movable(void (*visit)(void*, const memtrace_movable*), void* user) {
  if (visit == nullptr) return memtrace::Missing("visit");
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&]() -> int {
    for (const Sleep::Owner& owner : MovableMemory(Process::Get().cards()).owners()) {
      const std::string name(Process::Get().names().Text(static_cast<uint32_t>(owner.owner)));
      const memtrace_movable movable = memtrace::OwnerToAbi(owner, name.c_str());
      visit(user, &movable);
    }
    return MEMTRACE_OK;
  });
}

int memtrace_read_asleep(uint64_t address, uint64_t bytes, void* host) {
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&]() -> int {
    return memtrace::Translate(
        MovableMemory(Process::Get().cards()).Read(memtrace::DeviceAddress{address}, bytes, host));
  });
}

int memtrace_has_asleep() { return Sleep::is_any_asleep() ? 1 : 0; }

int memtrace_find_asleep(const void* address, char* name, uint64_t size) {
  if (name == nullptr || size == 0) return 0;
  return memtrace::FindSleepingOwner(reinterpret_cast<uint64_t>(address), name, size);
}

uint64_t memtrace_pooled_host_memory() {
  return Contain(uint64_t{0}, [] { return MovableMemory(Process::Get().cards()).pooled(); });
}

uint64_t memtrace_release_host_memory() {
  return Contain(uint64_t{0},
                 [] { return MovableMemory(Process::Get().cards()).ReleaseHostMemory(); });
}

}  // extern "C"
