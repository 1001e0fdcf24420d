// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/private_pools.h"

#include <c10/util/Exception.h>

#include <utility>

#include "interpose/torch/allocator_settings.h"
#include "interpose/torch/core_calls.h"
#include "interpose/torch/torch_views.h"

namespace memtrace::shim {
namespace {

namespace native = c10::cuda::CUDACachingAllocator;
using Filter = std::function<bool(cudaStream_t)>;
using Source = std::shared_ptr<native::CUDAAllocator>;

void* AllocateFromSource(void* user, uint64_t bytes, uint64_t /*stream*/) {
  try {
    return (*static_cast<Source*>(user))->raw_alloc(bytes);
  } catch (const c10::OutOfMemoryError&) {
    return nullptr;
  }
}

memtrace_memory_source ToAbi(Source source) {
  memtrace_memory_source to{};
  to.size = sizeof(to);
  to.user = new Source(std::move(source));
  to.allocate = &AllocateFromSource;
  to.deallocate = [](void* user, void* address, uint64_t /*bytes*/, uint64_t /*stream*/) {
    (*static_cast<Source*>(user))->raw_delete(address);
  };
  to.drop = [](void* user) { delete static_cast<Source*>(user); };
  return to;
}

memtrace_stream_filter ToAbi(Filter filter) {
  memtrace_stream_filter to{};
  to.size = sizeof(to);
  to.user = new Filter(std::move(filter));
  to.takes = [](void* user, uint64_t stream) {
    return (*static_cast<Filter*>(user))(reinterpret_cast<cudaStream_t>(stream)) ? 1 : 0;
  };
  to.drop = [](void* user) { delete static_cast<Filter*>(user); };
  return to;
}

class PoolState final : public native::AllocatorState {
 public:
  explicit PoolState(memtrace_checkpoint* checkpoint)
      : checkpoint_(checkpoint, &memtrace_drop_checkpoint) {}
  const memtrace_checkpoint* checkpoint() const { return checkpoint_.get(); }

 private:
  std::unique_ptr<memtrace_checkpoint, decltype(&memtrace_drop_checkpoint)> checkpoint_;
};

}  // namespace

void RetainPool(c10::DeviceIndex device, const MempoolId_t& pool, Source source) {
  const memtrace_pool id = ToAbi(pool);
  ThrowUnlessOk(memtrace_retain_pool(device, &id));
  if (source == nullptr || PoolUseCount(device, pool) > 1) return;
  const memtrace_memory_source given = ToAbi(std::move(source));
  ThrowUnlessOk(memtrace_set_pool_source(device, &id, &given));
}

void BeginAllocateToPool(c10::DeviceIndex device, const MempoolId_t& pool, Filter filter) {
  const memtrace_pool id = ToAbi(pool);
  ThrowUnlessOk(memtrace_retain_pool(device, &id));
  ThrowUnlessOk(memtrace_set_capture_reuse(device, ReusesInCaptures() ? 1 : 0));
  const memtrace_stream_filter given = ToAbi(std::move(filter));
  const int status = memtrace_begin_routing(device, &id, &given);
  if (status == MEMTRACE_OK) return;
  const std::string reason = memtrace_last_error();
  memtrace_release_pool(device, &id);
  TORCH_CHECK(false, "beginAllocateToPool: already recording to mempool_id: ", reason);
}

int PoolUseCount(c10::DeviceIndex device, const MempoolId_t& pool) {
  const memtrace_pool id = ToAbi(pool);
  int uses = 0;
  return memtrace_pool_uses(device, &id, &uses) == MEMTRACE_OK ? uses : 0;
}

bool HasLiveAllocations(c10::DeviceIndex device, const MempoolId_t& pool,
                        const std::unordered_set<void*>& expected) {
  size_t live = 0;
  bool is_expected = true;
  VisitSegments(device, [&](const memtrace_segment& segment) {
    if (ToTorch(segment.pool) != pool) return;
    for (uint64_t i = 0; i < segment.block_count; ++i) {
      if (segment.blocks[i].state != MEMTRACE_BLOCK_ALLOCATED) continue;
      ++live;
      is_expected =
          is_expected && expected.contains(reinterpret_cast<void*>(segment.blocks[i].address));
    }
  });
  return is_expected && live == expected.size();
}

std::shared_ptr<native::AllocatorState> CheckpointPool(c10::DeviceIndex device,
                                                       const MempoolId_t& pool) {
  const memtrace_pool id = ToAbi(pool);
  memtrace_checkpoint* checkpoint = nullptr;
  ThrowUnlessOk(memtrace_checkpoint_pool(device, &id, &checkpoint));
  return std::make_shared<PoolState>(checkpoint);
}

native::CheckpointDelta RestorePool(c10::DeviceIndex device,
                                    const native::AllocatorState& checkpoint,
                                    c10::DeleterFnPtr deleter) {
  const auto* state = dynamic_cast<const PoolState*>(&checkpoint);
  TORCH_CHECK(state != nullptr, "the checkpoint was not made by memtrace's allocator");
  native::CheckpointDelta delta;
  const auto visit = [&](void* address, bool is_allocated) {
    if (is_allocated) {
      delta.dataptrs_allocd.emplace_back(address, address, deleter,
                                         c10::Device(c10::kCUDA, device));
    } else {
      delta.ptrs_freed.push_back(address);
    }
  };
  ThrowUnlessOk(memtrace_restore_pool(
      device, state->checkpoint(),
      [](void* user, void* address, int is_allocated) {
        (*static_cast<decltype(&visit)>(user))(address, is_allocated != 0);
      },
      const_cast<void*>(static_cast<const void*>(&visit))));
  return delta;
}

}  // namespace memtrace::shim
