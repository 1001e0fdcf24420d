// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/ipc_memory.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <unordered_map>
#include <utility>

#include "base/mutex.h"
#include "interpose/core/memtrace.h"
#include "interpose/torch/core_calls.h"
#include "interpose/torch/torch_views.h"

// A handle's first byte tells its kind. torch's own handles begin with a version, 1; torch rejects
// ours as unknown.
namespace memtrace::shim {
namespace {

constexpr char kBlock = 'M';       // memtrace_shared_block
constexpr char kCudaMalloc = 'C';  // cudaIpcMemHandle_t

template <typename Plain>
std::string Pack(char kind, const Plain& plain) {
  std::string handle(1 + sizeof(plain), kind);
  std::memcpy(handle.data() + 1, &plain, sizeof(plain));
  return handle;
}

template <typename Plain>
Plain Unpack(const std::string& handle) {
  TORCH_CHECK(handle.size() == 1 + sizeof(Plain), "a CUDA tensor's handle has the wrong length");
  Plain plain{};
  std::memcpy(&plain, handle.data() + 1, sizeof(plain));
  return plain;
}

// Returns the start of the segment that holds `address`; `address` itself if it is not ours.
char* SegmentOf(void* address) {
  auto* start = static_cast<char*>(address);
  VisitSegments(c10::cuda::current_device(), [&](const memtrace_segment& segment) {
    const auto at = reinterpret_cast<uint64_t>(address);
    if (at >= segment.address && at - segment.address < segment.bytes)
      start = reinterpret_cast<char*>(segment.address);
  });
  return start;
}

std::shared_ptr<void> OpenBlock(const std::string& handle) {
  const auto block = Unpack<memtrace_shared_block>(handle);
  void* address = nullptr;
  ThrowUnlessOk(memtrace_open_block(&block, c10::cuda::current_device(), &address));
  return {address, [](void* opened) { memtrace_close_block(opened); }};
}

std::shared_ptr<void> OpenCudaMalloc(const std::string& handle) {
  const auto ipc = Unpack<cudaIpcMemHandle_t>(handle);
  void* address = nullptr;
  C10_CUDA_CHECK(cudaIpcOpenMemHandle(&address, ipc, cudaIpcMemLazyEnablePeerAccess));
  return {address, [](void* opened) { C10_CUDA_CHECK_WARN(cudaIpcCloseMemHandle(opened)); }};
}

struct Opened {
  Mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<void>> by_handle;

  // Never destroyed, because tensors outlive every static destructor.
  static Opened& Get() {
    static auto* opened = new Opened;
    return *opened;
  }
};

}  // namespace

c10::cuda::CUDACachingAllocator::ShareableHandle ShareMemory(void* address) {
  memtrace_shared_block block{};
  block.size = sizeof(block);
  const int status = memtrace_share_block(address, &block);
  if (status == MEMTRACE_OK) {
    const auto offset = reinterpret_cast<uint64_t>(address) - block.base;
    return {static_cast<ptrdiff_t>(offset), Pack(kBlock, block)};
  }
  if (status != MEMTRACE_UNSUPPORTED && status != MEMTRACE_INVALID_ARGUMENT) ThrowUnlessOk(status);
  char* start = SegmentOf(address);
  cudaIpcMemHandle_t ipc{};
  C10_CUDA_CHECK(cudaIpcGetMemHandle(&ipc, start));
  return {static_cast<char*>(address) - start, Pack(kCudaMalloc, ipc)};
}

std::shared_ptr<void> OpenSharedMemory(const std::string& handle) {
  TORCH_CHECK(!handle.empty() && (handle.front() == kBlock || handle.front() == kCudaMalloc),
              "a CUDA tensor comes from a process without memtrace's allocator. Run both ",
              "processes with it, or both with --allocator native.");
  Opened& opened = Opened::Get();
  const MutexLock lock(opened.mutex);
  std::weak_ptr<void>& known = opened.by_handle[handle];
  if (std::shared_ptr<void> memory = known.lock()) return memory;
  std::shared_ptr<void> memory =
      handle.front() == kBlock ? OpenBlock(handle) : OpenCudaMalloc(handle);
  known = memory;
  return memory;
}

}  // namespace memtrace::shim
