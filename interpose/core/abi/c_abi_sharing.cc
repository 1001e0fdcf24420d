// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace.h about memory for other processes and cards.
#include "interpose/core/abi/shared_memory.h"
#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/memtrace.h"

using memtrace::CachingAllocator;
using memtrace::Contain;
using memtrace::SharedMemory;

extern "C" {

int memtrace_share_block(const void* address, memtrace_shared_block* block) {
  if (!memtrace::HasSize(block)) return memtrace::Missing("block");
  return memtrace::WithOwner(address, [&](const CachingAllocator& allocator) -> int {
    const auto shared =
        SharedMemory::Get().Share(static_cast<int>(allocator.device()), memtrace::Address(address));
    if (shared.ok()) memtrace::WriteCommonPart(block, *shared);
    return memtrace::Translate(shared.status());
  });
}

int memtrace_open_block(const memtrace_shared_block* block, int device, void** address) {
  if (!memtrace::HasSize(block) || address == nullptr) return memtrace::Missing("block or address");
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&]() -> int {
    const auto opened = SharedMemory::Get().Open(memtrace::ReadCommonPart(block), device);
    if (opened.ok()) *address = memtrace::Pointer(*opened);
    return memtrace::Translate(opened.status());
  });
}

int memtrace_close_block(void* address) {
  return Contain(static_cast<int>(MEMTRACE_INTERNAL), [&]() -> int {
    return memtrace::Translate(SharedMemory::Get().Close(memtrace::Address(address)));
  });
}

int memtrace_admit_peer(int device, int peer) {
  return memtrace::WithCard(device, [&](CachingAllocator& allocator) {
    return memtrace::Translate(allocator.sharing().Admit(memtrace::DeviceIndex{peer}));
  });
}

}  // extern "C"
