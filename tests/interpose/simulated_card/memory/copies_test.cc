// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/copies.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "tests/interpose/simulated_card/memory/card_sizes.h"

namespace memtrace::card {
namespace {

using Bytes = std::vector<std::byte>;

class CopiesTest : public ::testing::Test {
 protected:
  Address Host(const void* pointer) { return Address{reinterpret_cast<std::uintptr_t>(pointer)}; }

  // Returns a range of whole granules, each with its own handle, readable and writable.
  Address Mapped(const std::vector<HandleId>& handles) {
    Address begin;
    EXPECT_EQ(space_.Reserve(handles.size() * 2_MiB, 0, Address(), &begin), Result::kSuccess);
    for (std::size_t i = 0; i < handles.size(); ++i) {
      EXPECT_EQ(space_.Map(begin + i * 2_MiB, 2_MiB, 0, handles[i]), Result::kSuccess);
    }
    EXPECT_EQ(space_.SetAccess(begin, handles.size() * 2_MiB, 0, Access::kReadWrite),
              Result::kSuccess);
    return begin;
  }

  HandleId Created() {
    HandleId handle = 0;
    EXPECT_EQ(machine_.physical.Create(0, 2_MiB, ChargeKind::kVmm, &handle), Result::kSuccess);
    return handle;
  }

  Bytes Pattern(std::size_t bytes, int first) {
    Bytes pattern(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
      pattern[i] = static_cast<std::byte>(first + static_cast<int>(i % 97));
    return pattern;
  }

  Bytes ReadBack(Address from, std::size_t bytes) {
    Bytes read(bytes, std::byte{0xee});
    EXPECT_EQ(copies_.Copy(Host(read.data()), from, bytes), Result::kSuccess);
    return read;
  }

  void Write(Address to, const Bytes& bytes) {
    EXPECT_EQ(copies_.Copy(to, Host(bytes.data()), bytes.size()), Result::kSuccess);
  }

  Machine machine_ = Machine({{.bytes = 200_GiB}}, 64_MiB);
  AddressSpace& space_ = machine_.space;
  Copies& copies_ = machine_.copies;
};

TEST_F(CopiesTest, NeverWrittenMemoryReadsAsZeros) {
  const Address range = Mapped({Created(), Created()});
  EXPECT_EQ(ReadBack(range + 2_MiB - 100, 200), Bytes(200));
  Write(range, Pattern(10, 1));
  EXPECT_EQ(ReadBack(range + 2_MiB - 100, 200), Bytes(200));
}

TEST_F(CopiesTest, BytesSurviveACopyThroughScatteredChunks) {
  const Address range = Mapped({Created(), Created(), Created()});
  const Address copy = Mapped({Created(), Created(), Created()});
  const Bytes pattern = Pattern(3_MiB, 7);
  Write(range + 1_MiB, pattern);
  ASSERT_EQ(copies_.Copy(copy + 512, range + 1_MiB, 3_MiB), Result::kSuccess);
  EXPECT_EQ(ReadBack(copy + 512, 3_MiB), pattern);
}

TEST_F(CopiesTest, CopyOfUnwrittenMemoryIsZero) {
  const Address source = Mapped({Created()});
  const Address target = Mapped({Created()});
  Write(source + 1_MiB, Pattern(4096, 3));
  Write(target, Pattern(2_MiB, 9));
  ASSERT_EQ(copies_.Copy(target, source, 2_MiB), Result::kSuccess);
  EXPECT_EQ(ReadBack(target, 1_MiB), Bytes(1_MiB));
  EXPECT_EQ(ReadBack(target + 1_MiB, 4096), Pattern(4096, 3));
  EXPECT_EQ(ReadBack(target + 1_MiB + 4096, 4096), Bytes(4096));
}

TEST_F(CopiesTest, TwoMappingsOfOneHandleAreTheSameMemory) {
  const HandleId handle = Created();
  const Address one = Mapped({handle});
  const Address other = Mapped({handle});
  Write(one + 100, Pattern(100, 1));
  EXPECT_EQ(ReadBack(other + 100, 100), Pattern(100, 1));
}

TEST_F(CopiesTest, ContentsSurviveUnmapAndMapElsewhere) {
  const HandleId handle = Created();
  const Address before = Mapped({handle});
  Write(before, Pattern(1000, 5));
  ASSERT_EQ(space_.Unmap(before, 2_MiB), Result::kSuccess);
  const Address after = Mapped({Created(), handle});
  EXPECT_EQ(ReadBack(after + 2_MiB, 1000), Pattern(1000, 5));
}

TEST_F(CopiesTest, NewMemoryDoesNotShowOldContents) {
  const HandleId old_handle = Created();
  const Address range = Mapped({old_handle});
  Write(range, Pattern(1000, 5));
  ASSERT_EQ(machine_.physical.Release(old_handle), Result::kSuccess);
  ASSERT_EQ(space_.Unmap(range, 2_MiB), Result::kSuccess);
  EXPECT_EQ(ReadBack(Mapped({Created()}), 1000), Bytes(1000));
}

TEST_F(CopiesTest, CopiesAboveTheLimitAreDroppedAndCounted) {
  Address range;
  ASSERT_EQ(machine_.heap.Allocate(0, 100_MiB, &range), Result::kSuccess);
  const Bytes large(64_MiB + 1, std::byte{1});
  Write(range, large);
  EXPECT_EQ(ReadBack(range, 10), Bytes(10));
  Write(range, Bytes(64_MiB, std::byte{2}));
  EXPECT_EQ(ReadBack(range, 10), Bytes(10, std::byte{2}));
  const CopyCounts counts = copies_.Counts();
  EXPECT_EQ(counts.dropped, 1u);
  EXPECT_EQ(counts.bytes_dropped, 64_MiB + 1);
  EXPECT_EQ(counts.executed, 3u);
  EXPECT_EQ(counts.device_to_host, 2u);
}

TEST_F(CopiesTest, FillsRepeatTheirPattern) {
  const Address range = Mapped({Created(), Created()});
  const std::array pattern = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  ASSERT_EQ(copies_.Fill(range + 2_MiB - 8, 16, pattern), Result::kSuccess);
  Bytes expected;
  for (int i = 0; i < 4; ++i) expected.insert(expected.end(), pattern.begin(), pattern.end());
  EXPECT_EQ(ReadBack(range + 2_MiB - 8, 16), expected);
  EXPECT_EQ(ReadBack(range + 2_MiB + 8, 4), Bytes(4));
}

TEST_F(CopiesTest, ZeroingIsExactAndCostsNothingAtAnySize) {
  Address range;
  ASSERT_EQ(machine_.heap.Allocate(0, 100_GiB, &range), Result::kSuccess);
  Write(range + 50_GiB, Pattern(9000, 1));
  const std::array zero = {std::byte{0}};
  ASSERT_EQ(copies_.Fill(range + 50_GiB + 10, 49_GiB, zero), Result::kSuccess);
  Bytes expected = Pattern(9000, 1);
  std::fill(expected.begin() + 10, expected.end(), std::byte{0});
  EXPECT_EQ(ReadBack(range + 50_GiB, 9000), expected);
  EXPECT_EQ(copies_.Counts().dropped, 0u);
}

TEST_F(CopiesTest, AccessToMissingMemoryIsACountedFault) {
  const HandleId handle = Created();
  const Address range = Mapped({handle});
  Bytes bytes(100);
  Address freed;
  ASSERT_EQ(machine_.heap.Allocate(0, 4_MiB, &freed), Result::kSuccess);
  ASSERT_EQ(machine_.heap.Free(freed), Result::kSuccess);
  EXPECT_EQ(copies_.Copy(Host(bytes.data()), freed, 100), Result::kInvalidValue);
  EXPECT_EQ(copies_.Copy(range + 2_MiB - 50, Host(bytes.data()), 100), Result::kInvalidValue);
  ASSERT_EQ(space_.SetAccess(range, 2_MiB, 0, Access::kRead), Result::kSuccess);
  EXPECT_EQ(copies_.Copy(range, Host(bytes.data()), 100), Result::kInvalidValue);
  EXPECT_EQ(copies_.Copy(Host(bytes.data()), range, 100), Result::kSuccess);
  ASSERT_EQ(space_.Unmap(range, 2_MiB), Result::kSuccess);
  EXPECT_EQ(copies_.Copy(Host(bytes.data()), range, 100), Result::kInvalidValue);
  EXPECT_EQ(copies_.Counts().faults, 4u);
  EXPECT_EQ(copies_.Copy(Address(), range, 100), Result::kInvalidValue);
}

TEST_F(CopiesTest, HostToHostIsAPlainCopy) {
  const Bytes from = Pattern(100, 1);
  Bytes to(100);
  ASSERT_EQ(copies_.Copy(Host(to.data()), Host(from.data()), 100), Result::kSuccess);
  EXPECT_EQ(to, from);
  EXPECT_EQ(copies_.Copy(Address(), Host(from.data()), 100), Result::kInvalidValue);
}

}  // namespace
}  // namespace memtrace::card
