// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace.h about private pools.
#include <memory>
#include <utility>

#include "base/status_macros.h"
#include "interpose/core/abi/abi_structs.h"
#include "interpose/core/abi/source_call.h"
#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/memtrace.h"

// Declared in memtrace.h as an opaque type for callers.
struct memtrace_checkpoint {
  memtrace::PoolCheckpoint blocks;
};

namespace memtrace {
namespace {

PoolId IdOf(const memtrace_pool& pool) { return {pool.first, pool.second}; }

// Takes over a caller's struct with a `drop`, which is called when the last copy of the pointer
// goes.
template <typename Struct>
std::shared_ptr<const Struct> Adopt(const Struct& given) {
  return {new Struct(given), [](const Struct* adopted) {
            if (adopted->drop != nullptr) adopted->drop(adopted->user);
            delete adopted;
          }};
}

// Returns what is told of captures; null if there is no trace, or if the call has failed.
recorder::BlockUses* UsesAfter(int status) {
  recorder::Recorder* recorder = Process::Get().recorder();
  return status == MEMTRACE_OK && recorder != nullptr ? &recorder->uses() : nullptr;
}

class CallersSource final : public MemorySource {
 public:
  explicit CallersSource(const memtrace_memory_source& source) : source_(Adopt(source)) {}

  absl::StatusOr<DeviceAddress> Allocate(Bytes size, StreamId stream) override {
    const SourceCall call;
    void* address = source_->allocate(source_->user, size, static_cast<uint64_t>(stream));
    if (address == nullptr)
      return absl::ResourceExhaustedError("the pool's own allocator returned no memory");
    return Address(address);
  }
  void Free(DeviceAddress address, Bytes size, StreamId stream) override {
    const SourceCall call;
    source_->deallocate(source_->user, Pointer(address), size, static_cast<uint64_t>(stream));
  }

 private:
  const std::shared_ptr<const memtrace_memory_source> source_;
};

template <typename Action>
int WithPool(int device, const memtrace_pool* pool, Action action) {
  if (pool == nullptr) return Missing("pool");
  return WithCard(device, [&](CachingAllocator& allocator) -> int {
    return Translate(action(allocator, IdOf(*pool)));
  });
}

}  // namespace
}  // namespace memtrace

using memtrace::CachingAllocator;
using memtrace::PoolId;

extern "C" {

int memtrace_empty_pool(const memtrace_pool* pool) {
  int first_failure = MEMTRACE_OK;
  for (int device = 0; device < memtrace::Process::Get().cards().device_count(); ++device) {
    const int status = memtrace::WithPool(
        device, pool,
        [](CachingAllocator& allocator, const PoolId& id) { return allocator.EmptyCache(id); });
    if (first_failure == MEMTRACE_OK) first_failure = status;
  }
  return first_failure;
}

int memtrace_visit_pools(int device,
                         void (*visit)(void*, const memtrace_pool*, const memtrace_statistic*),
                         void* user) {
  if (visit == nullptr) return memtrace::Missing("visit");
  return memtrace::WithCard(device, [&](const CachingAllocator& allocator) {
    for (const auto& [id, reserved] : allocator.accounts().by_pool()) {
      const memtrace_pool pool{id.first, id.second};
      memtrace_statistic by_kind[3];
      memtrace::Copy(by_kind, reserved);
      visit(user, &pool, by_kind);
    }
    return static_cast<int>(MEMTRACE_OK);
  });
}

int memtrace_retain_pool(int device, const memtrace_pool* pool) {
  return memtrace::WithPool(device, pool, [](CachingAllocator& allocator, const PoolId& id) {
    allocator.pools().Retain(id);
    return absl::OkStatus();
  });
}

int memtrace_release_pool(int device, const memtrace_pool* pool) {
  return memtrace::WithPool(device, pool, [](CachingAllocator& allocator, const PoolId& id) {
    return allocator.pools().Release(id);
  });
}

int memtrace_pool_uses(int device, const memtrace_pool* pool, int* uses) {
  if (uses == nullptr) return memtrace::Missing("uses");
  return memtrace::WithPool(device, pool, [&](CachingAllocator& allocator, const PoolId& id) {
    const absl::StatusOr<int> count = allocator.pools().Uses(id);
    if (count.ok()) *uses = *count;
    return count.status();
  });
}

int memtrace_set_pool_no_split(int device, const memtrace_pool* pool) {
  return memtrace::WithPool(device, pool, [](CachingAllocator& allocator, const PoolId& id) {
    return allocator.pools().SetNoSplit(id);
  });
}

int memtrace_set_pool_use_on_oom(int device, const memtrace_pool* pool, int use) {
  return memtrace::WithPool(device, pool, [&](CachingAllocator& allocator, const PoolId& id) {
    return allocator.pools().SetUseOnOom(id, use != 0);
  });
}

int memtrace_set_pool_source(int device, const memtrace_pool* pool,
                             const memtrace_memory_source* source) {
  if (!memtrace::HasSize(source)) return memtrace::Missing("source");
  const memtrace_memory_source given = memtrace::ReadCommonPart(source);
  if (given.allocate == nullptr || given.deallocate == nullptr)
    return memtrace::Missing("a function of the source");
  return memtrace::WithPool(device, pool, [&](CachingAllocator& allocator, const PoolId& id) {
    return allocator.pools().SetSource(id, std::make_shared<memtrace::CallersSource>(given));
  });
}

int memtrace_begin_routing(int device, const memtrace_pool* pool,
                           const memtrace_stream_filter* filter) {
  if (!memtrace::HasSize(filter)) return memtrace::Missing("filter");
  const memtrace_stream_filter given = memtrace::ReadCommonPart(filter);
  if (given.takes == nullptr) return memtrace::Missing("takes");
  const int status =
      memtrace::WithPool(device, pool, [&](CachingAllocator& allocator, const PoolId& id) {
        return allocator.pools().BeginRouting(
            id, [kept = memtrace::Adopt(given)](memtrace::StreamId stream) {
              return kept->takes(kept->user, static_cast<uint64_t>(stream)) != 0;
            });
      });
  if (auto* uses = memtrace::UsesAfter(status)) uses->BeginCapture();
  return status;
}

int memtrace_end_routing(int device, const memtrace_pool* pool) {
  const int status =
      memtrace::WithPool(device, pool, [](CachingAllocator& allocator, const PoolId& id) {
        return allocator.pools().EndRouting(id);
      });
  if (auto* uses = memtrace::UsesAfter(status)) uses->EndCapture();
  return status;
}

int memtrace_set_capture_reuse(int device, int reuse) {
  return memtrace::WithCard(device, [&](CachingAllocator& allocator) {
    allocator.pools().SetCaptureReuse(reuse != 0);
    return static_cast<int>(MEMTRACE_OK);
  });
}

int memtrace_checkpoint_pool(int device, const memtrace_pool* pool,
                             memtrace_checkpoint** checkpoint) {
  if (checkpoint == nullptr) return memtrace::Missing("checkpoint");
  *checkpoint = nullptr;
  return memtrace::WithPool(device, pool, [&](CachingAllocator& allocator, const PoolId& id) {
    MEMTRACE_ASSIGN_OR_RETURN(auto made, allocator.pools().Checkpoint(id));
    *checkpoint = new memtrace_checkpoint{std::move(made)};
    return absl::OkStatus();
  });
}

int memtrace_restore_pool(int device, const memtrace_checkpoint* checkpoint,
                          void (*visit)(void*, void*, int), void* user) {
  if (checkpoint == nullptr || visit == nullptr) return memtrace::Missing("checkpoint or visit");
  return memtrace::WithCard(device, [&](CachingAllocator& allocator) -> int {
    const auto restored = allocator.pools().Restore(checkpoint->blocks);
    if (!restored.ok()) return memtrace::Translate(restored.status());
    for (const auto address : restored->freed)
      visit(user, memtrace::Pointer(address), /*is_allocated=*/0);
    for (const auto address : restored->allocated)
      visit(user, memtrace::Pointer(address), /*is_allocated=*/1);
    return MEMTRACE_OK;
  });
}

void memtrace_drop_checkpoint(memtrace_checkpoint* checkpoint) { delete checkpoint; }

}  // extern "C"
