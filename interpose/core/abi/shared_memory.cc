// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/abi/shared_memory.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status_macros.h"
#include "interpose/core/process.h"

namespace memtrace {
namespace {

uint64_t SerialOf(const std::vector<SharedChunk>& shared) {
  uint64_t latest = 0;
  for (const auto& [chunk, descriptor] : shared) latest = std::max(latest, chunk.serial);
  return latest;
}

// Runs on the server's thread when another process requests the block.
absl::StatusOr<BlockServer::Chunks> OpenChunks(const BlockRequest& request) {
  CachingAllocator* allocator = Process::Get().cards().allocator(static_cast<int>(request.device));
  if (allocator == nullptr) return absl::NotFoundError("there is no such card");
  MEMTRACE_ASSIGN_OR_RETURN(auto shared,
                            allocator->sharing().Share(DeviceAddress{request.address}));
  if (SerialOf(shared) != request.serial)
    return absl::NotFoundError("the block was freed, and another one is at its address");
  BlockServer::Chunks chunks;
  for (auto& [chunk, descriptor] : shared) chunks.push_back({std::move(descriptor), chunk.size});
  return chunks;
}

}  // namespace

SharedMemory& SharedMemory::Get() {
  static auto* memory = new SharedMemory;
  return *memory;
}

absl::StatusOr<memtrace_shared_block> SharedMemory::Share(int device, DeviceAddress address) {
  CachingAllocator* allocator = Process::Get().cards().allocator(device);
  if (allocator == nullptr) return absl::NotFoundError("there is no such card");
  // Checks now that the block can be shared; the descriptors are made on request.
  MEMTRACE_ASSIGN_OR_RETURN(const auto shared, allocator->sharing().Share(address));
  MEMTRACE_ASSIGN_OR_RETURN(const std::string name, server_.Start(&OpenChunks));
  memtrace_shared_block block{};
  block.size = sizeof(block);
  block.device = device;
  block.address = allocator->sharing().BaseAllocation(address)->begin.value();
  block.base = shared.front().chunk.address.value();
  block.serial = SerialOf(shared);
  for (const auto& [chunk, descriptor] : shared) block.bytes += chunk.size;
  std::memcpy(block.owner, name.data(), std::min(name.size(), sizeof(block.owner) - 1));
  return block;
}

absl::StatusOr<DeviceAddress> SharedMemory::Open(const memtrace_shared_block& block, int device) {
  const BlockRequest request{.device = static_cast<uint64_t>(block.device),
                             .address = block.address,
                             .serial = block.serial};
  MEMTRACE_ASSIGN_OR_RETURN(
      const auto chunks,
      FetchBlock(std::string(block.owner, strnlen(block.owner, sizeof(block.owner))), request));
  MEMTRACE_ASSIGN_OR_RETURN(auto imported, ImportedMemory::Map(DeviceIndex{device}, chunks));
  const DeviceAddress address = imported->address();
  const MutexLock lock(mutex_);
  opened_[address] = std::move(imported);
  return address;
}

absl::Status SharedMemory::Close(DeviceAddress address) {
  std::unique_ptr<ImportedMemory> closed;  // outlives the lock: unmapped after the unlock
  const MutexLock lock(mutex_);
  const auto found = opened_.find(address);
  if (found == opened_.end()) return absl::NotFoundError("no block is open at this address");
  closed = std::move(found->second);
  opened_.erase(found);
  return absl::OkStatus();
}

}  // namespace memtrace
