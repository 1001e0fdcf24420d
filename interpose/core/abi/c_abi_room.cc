// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The part of memtrace.h that makes room for refused requests.
#include "allocator/cuda/open_card.h"
#include "interpose/core/abi/source_call.h"
#include "interpose/core/abi/struct_sizes.h"
#include "interpose/core/abi_border.h"
#include "interpose/core/memtrace.h"

namespace memtrace {
namespace {

// A lock of an allocator may be held by this very thread: in a pool's own source, or in one of our
// calls of the driver in which a tool's callback allocates.
uint64_t MakeRoom(const memtrace_room& wanted) {
  Process& process = Process::Get();
  if (SourceCall::IsRunning() || IsInDriverCall() || process.cards().is_forked()) return 0;
  if (wanted.from == MEMTRACE_ROOM_FROM_NEIGHBOURS)
    return process.room().FromNeighbours(wanted.device, wanted.bytes);
  return process.room().FromOwnCache({.device = wanted.device,
                                      .bytes = wanted.bytes,
                                      .stream = StreamId{wanted.stream},
                                      .caller = wanted.caller});
}

memtrace_given_room GivenToAbi(const GiveWay::Counts& counts) {
  return {.size = sizeof(memtrace_given_room),
          .reserved = 0,
          .times = counts.times,
          .bytes_to_libraries = counts.to_libraries,
          .bytes_to_neighbours = counts.to_neighbours};
}

}  // namespace
}  // namespace memtrace

extern "C" {

uint64_t memtrace_make_room(const memtrace_room* wanted) {
  if (!memtrace::HasSize(wanted)) return 0;
  return memtrace::Contain(uint64_t{0},
                           [&] { return memtrace::MakeRoom(memtrace::ReadCommonPart(wanted)); });
}

int memtrace_get_given_room(int device, memtrace_given_room* given) {
  if (!memtrace::HasSize(given)) return memtrace::Missing("given");
  return memtrace::WithCard(device, [&](memtrace::CachingAllocator& allocator) {
    memtrace::WriteCommonPart(given,
                              memtrace::GivenToAbi(allocator.movement().give_way().counts()));
    return static_cast<int>(MEMTRACE_OK);
  });
}

}  // extern "C"
