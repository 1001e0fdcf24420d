// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_PROGRAM_PROGRAM_CARD_H_
#define MEMTRACE_TESTS_ALLOCATOR_PROGRAM_PROGRAM_CARD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "allocator/card/memory_copies.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"
#include "tests/allocator/program/allocator_program.h"

namespace memtrace::program {

class Observer final : public AllocationObserver {
 public:
  explicit Observer(bool observes_blocks) { SetObservesBlocks(observes_blocks); }
};

// A card of 128 MiB whose calls can fail, with an allocator on it.
struct ProgramCard {
  explicit ProgramCard(const Way& way)
      : observer(way.is_observed),
        allocator({.plan = way.plan,
                   .captures = &streams,
                   .copies = &copies,
                   .host_limit = 96_MiB,
                   .spill = 40_MiB},
                  vmm, streams, observer) {
    allocator.pools().SetCaptureReuse(way.reuses_in_captures);
  }

  CallFailures failures;
  MemoryStreams streams{&failures};
  MemoryContents contents;
  MemoryVmm vmm{{.capacity = 128_MiB, .host = 48_MiB, .contents = &contents}, &streams, &failures};
  MemoryCopies copies{vmm, contents, 1_GiB, &failures};
  Observer observer;
  CachingAllocator allocator;
};

// The first thing that the allocator did differently from the model.
struct Problem {
  std::optional<std::string> first;

  void Expect(bool is_true, const char* what) {
    if (!is_true && !first.has_value()) first = what;
  }
};

// The facts that the model knows about a block in use.
struct InUse {
  static constexpr uint64_t kUnknown = ~uint64_t{0};

  Bytes bytes = 0;
  Bytes size = 0;
  StreamId stream{};
  uint64_t pool = 0;
  uint32_t owner = 0;
  uint64_t contents = kUnknown;
  bool is_shared = false;
};
using InUseBlocks = std::map<DeviceAddress, InUse>;

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_PROGRAM_PROGRAM_CARD_H_
