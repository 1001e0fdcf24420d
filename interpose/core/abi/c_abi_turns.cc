// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace_pools.h about graphs that are replayed in turns.
#include <string_view>
#include <vector>

#include "interpose/core/abi/source_call.h"
#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/memtrace.h"
#include "interpose/core/program_scopes.h"

namespace memtrace {
namespace {

std::vector<CachingAllocator*> Allocators() {
  const ProcessCards& cards = Process::Get().cards();
  std::vector<CachingAllocator*> allocators;
  for (int device = 0; device < cards.device_count(); ++device) {
    if (CachingAllocator* allocator = cards.allocator(device)) allocators.push_back(allocator);
  }
  return allocators;
}

memtrace_turns_refusal RefusalOf(const absl::Status& status) {
  if (status.ok()) return MEMTRACE_TURNS_NOT_REFUSED;
  if (absl::IsNotFound(status)) return MEMTRACE_TURNS_TOO_FEW;
  return absl::IsUnavailable(status) ? MEMTRACE_TURNS_CAPTURE : MEMTRACE_TURNS_BY_DRIVER;
}

void Record(const CachingAllocator& allocator, Bytes saved, const void* caller) {
  recorder::Recorder* recorder = Process::Get().recorder();
  if (recorder == nullptr || saved == 0) return;
  const trace::Moved moved{.device = static_cast<int32_t>(allocator.device()),
                           .kind = trace::MoveKind::kTookTurns,
                           .bytes = saved};
  recorder->program().Moved(moved, "", CaptureContext(caller));
}

// Shares on each card that knows two of the pools. Refused if none does, or one refuses.
absl::Status Share(const std::vector<PoolId>& pools, TakingTurns::Shared& sum, const void* caller) {
  absl::Status refused = absl::NotFoundError("no card has two of the pools");
  for (CachingAllocator* allocator : Allocators()) {
    TakingTurns::Shared shared;
    const absl::Status status = allocator->movement().graph_turns().Share(pools, shared);
    sum.saved += shared.saved;
    sum.is_lost |= shared.is_lost;
    Record(*allocator, shared.saved, caller);
    if (absl::IsNotFound(status)) continue;
    if (!status.ok()) return status;
    refused = absl::OkStatus();
  }
  return refused;
}

int WriteName(MovableOwner owner, char* name, uint64_t size) {
  const std::string_view text = Process::Get().names().Text(static_cast<uint32_t>(owner));
  if (name != nullptr && size > 0) name[text.copy(name, size - 1)] = '\0';
  return MEMTRACE_REPLAY_ASLEEP;
}

}  // namespace
}  // namespace memtrace

extern "C" {

int memtrace_take_turns(const memtrace_pool* pools, uint64_t count, memtrace_turns* turns) {
  using namespace memtrace;  // NOLINT: the implementation of a C function
  if (pools == nullptr && count > 0) return Missing("pools");
  if (!HasSize(turns)) return Missing("turns");
  if (SourceCall::IsRunning())
    return Fail(MEMTRACE_UNSUPPORTED, "a pool's own allocator must not call this function");
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&]() -> int {
    if (Process::Get().cards().is_forked()) return NoSuchCard(0);
    std::vector<PoolId> ids;
    ids.reserve(count);
    for (uint64_t i = 0; i < count; ++i) ids.push_back({pools[i].first, pools[i].second});
    TakingTurns::Shared shared;
    const absl::Status status = Share(ids, shared, __builtin_return_address(0));
    WriteCommonPart(turns, memtrace_turns{.size = sizeof(memtrace_turns),
                                          .refusal = RefusalOf(status),
                                          .saved = shared.saved,
                                          .has_lost_memory = shared.is_lost ? 1 : 0,
                                          .reserved = 0});
    return Translate(status);
  });
}

int memtrace_replay_obstacle(const memtrace_pool* pool, char* name, uint64_t size) {
  using namespace memtrace;  // NOLINT: the implementation of a C function
  if (pool == nullptr) return MEMTRACE_REPLAY_MAY_RUN;
  return Contain(static_cast<int>(MEMTRACE_REPLAY_MAY_RUN), [&]() -> int {
    for (CachingAllocator* allocator : Allocators()) {
      const auto obstacle =
          allocator->movement().graph_turns().ObstacleOf({pool->first, pool->second});
      if (obstacle.asleep != MovableOwner{}) return WriteName(obstacle.asleep, name, size);
      if (obstacle.has_lost_memory) return MEMTRACE_REPLAY_LOST;
    }
    return MEMTRACE_REPLAY_MAY_RUN;
  });
}

}  // extern "C"
