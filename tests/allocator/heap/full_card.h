// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_HEAP_FULL_CARD_H_
#define MEMTRACE_TESTS_ALLOCATOR_HEAP_FULL_CARD_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <variant>

#include "tests/allocator/heap/card_with_contents.h"

namespace memtrace {

// A card and a host. The contents of a block are the number that was written into it, so what moves
// must keep it.
struct FullCard : CardWithContents {
  static constexpr Bytes kLargeHost = 64_GiB;  // clang 14 refuses the literal as a default argument

  explicit FullCard(Bytes capacity, Bytes host = kLargeHost, Bytes limit = kLargeHost)
      : CardWithContents(capacity, host, host, {.spill = limit}) {}

  DeviceAddress Write(Bytes bytes, uint64_t number, MovableOwner owner = {}) {
    const AllocationResult result = TryAllocate(bytes, owner);
    const auto* address = std::get_if<DeviceAddress>(&result);
    if (address == nullptr) return {};
    contents.Write(address->value(), bytes, number);
    written[*address] = {bytes, number};
    return *address;
  }
  void Free(DeviceAddress address) {
    FreeBlock(address);
    written.erase(address);
  }
  Spill::Moved Move(const Spill::Victims& victims, Bytes wanted) {
    Spill::Moved moved = spill.PutOnHost(victims, wanted);
    allocator.CheckInvariants();
    return moved;
  }
  Spill::CameBack EndStep() {
    const Spill::CameBack back = spill.EndStep();
    allocator.CheckInvariants();
    return back;
  }
  // Every block in use has memory at its first and its last byte, with the number that was written.
  void CheckContents() {
    for (const auto& [address, block] : written) {
      const auto& [bytes, number] = block;
      vmm.NoteUse(address, bytes, streams.Queue(kMain));
      EXPECT_EQ(contents.At(address.value()), number);
      EXPECT_EQ(contents.At(address.value() + bytes - 1), number);
    }
    streams.Finish(kMain);
    EXPECT_THAT(vmm.faults(), testing::IsEmpty());
  }

  Spill& spill = allocator.movement().spill();
  std::map<DeviceAddress, std::pair<Bytes, uint64_t>> written;
};

}  // namespace memtrace

#endif  // MEMTRACE_TESTS_ALLOCATOR_HEAP_FULL_CARD_H_
