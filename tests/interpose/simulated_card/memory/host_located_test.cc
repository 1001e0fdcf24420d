// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
// Memory of the host at addresses of a card: what it is charged to, and which copies pass the bus.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"
#include "interpose/simulated_card/memory/address_space.h"
#include "interpose/simulated_card/memory/copies.h"
#include "interpose/simulated_card/memory/physical_memory.h"

namespace memtrace::card {
namespace {

Cards OneCard() {
  Cards cards;
  CardSpec spec;
  spec.bytes = 64_MiB;
  cards.push_back(std::make_unique<Card>(spec));
  return cards;
}

class HostLocatedTest : public ::testing::Test {
 protected:
  HostLocatedTest() {
    physical_.SetHostLimit(8_MiB);
    EXPECT_EQ(space_.Reserve(8_MiB, 0, {}, &begin_), Result::kSuccess);
  }

  // Maps 2 MiB of that kind, and releases the handle.
  void MapAt(Address address, ChargeKind kind) {
    HandleId handle = 0;
    ASSERT_EQ(physical_.Create(0, 2_MiB, kind, &handle), Result::kSuccess);
    ASSERT_EQ(space_.Map(address, 2_MiB, 0, handle), Result::kSuccess);
    ASSERT_EQ(space_.SetAccess(address, 2_MiB, 0, Access::kReadWrite), Result::kSuccess);
    ASSERT_EQ(physical_.Release(handle), Result::kSuccess);
  }

  Cards cards_ = OneCard();
  BackingFile file_;
  PhysicalMemory physical_{cards_, file_};
  AddressSpace space_{cards_, physical_};
  Copies copies_{space_, file_, 64_MiB};
  Address begin_;
};

TEST_F(HostLocatedTest, TheCardIsNotChargedAndTheHostGetsItBack) {
  MapAt(begin_, ChargeKind::kHost);
  EXPECT_EQ(cards_[0]->CurrentLedger().vmm, 0u);
  EXPECT_EQ(physical_.host_located().bytes, 2_MiB);
  ASSERT_EQ(space_.Unmap(begin_, 2_MiB), Result::kSuccess);
  EXPECT_EQ(physical_.host_located().bytes, 0u);
  EXPECT_EQ(physical_.host_located().peak, 2_MiB);
}

TEST_F(HostLocatedTest, TheLimitOfTheHostIsKept) {
  HandleId handle = 0;
  ASSERT_EQ(physical_.Create(0, 8_MiB, ChargeKind::kHost, &handle), Result::kSuccess);
  HandleId more = 0;
  EXPECT_EQ(physical_.Create(0, 2_MiB, ChargeKind::kHost, &more), Result::kOutOfMemory);
  EXPECT_EQ(physical_.Release(handle), Result::kSuccess);
  EXPECT_EQ(physical_.Create(0, 2_MiB, ChargeKind::kHost, &more), Result::kSuccess);
}

TEST_F(HostLocatedTest, CopiesBetweenTheHostsMemoryAndTheCardPassTheBus) {
  MapAt(begin_, ChargeKind::kHost);
  MapAt(begin_ + 2_MiB, ChargeKind::kVmm);
  const std::vector<std::uint32_t> written(1024, 7);
  std::vector<std::uint32_t> read(1024);
  const auto number = [](const void* host) { return Address{reinterpret_cast<uintptr_t>(host)}; };
  ASSERT_EQ(copies_.Copy(begin_ + 2_MiB, number(written.data()), 4096), Result::kSuccess);
  EXPECT_EQ(copies_.Counts().bus_bytes, 4096u) << "from the host to the card";
  ASSERT_EQ(copies_.Copy(begin_, begin_ + 2_MiB, 4096), Result::kSuccess);
  EXPECT_EQ(copies_.Counts().bus_bytes, 8192u) << "and from the card to the host's memory";
  ASSERT_EQ(copies_.Copy(number(read.data()), begin_, 4096), Result::kSuccess);
  EXPECT_EQ(copies_.Counts().bus_bytes, 8192u) << "both sides are in the host's memory";
  EXPECT_EQ(read, written);
}

TEST_F(HostLocatedTest, AHandleTellsWhoseMemoryItIs) {
  HandleId handle = 0;
  ASSERT_EQ(physical_.Create(0, 2_MiB, ChargeKind::kHost, &handle), Result::kSuccess);
  int device = -1;
  ChargeKind kind = ChargeKind::kVmm;
  ASSERT_EQ(physical_.DeviceOf(handle, &device, &kind), Result::kSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(kind, ChargeKind::kHost);
}

}  // namespace
}  // namespace memtrace::card
