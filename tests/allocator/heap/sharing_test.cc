// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Sharing the allocator's memory with other processes and cards.
#include <gmock/gmock.h>

#include <vector>

#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

// A card whose chunks can be shared, with descriptors of nothing; records the peers that are
// admitted.
class OpenVmm : public MemoryVmm {
 public:
  using MemoryVmm::MemoryVmm;
  absl::StatusOr<UniqueDescriptor> Share(DeviceAddress address) override {
    shared.push_back(address);
    return UniqueDescriptor(dup(STDERR_FILENO));
  }
  absl::Status Admit(DeviceIndex peer, const std::vector<MappedChunk>& mapped) override {
    admitted = peer;
    mapped_then = mapped;
    return absl::OkStatus();
  }

  std::vector<DeviceAddress> shared;
  DeviceIndex admitted{-1};
  std::vector<MappedChunk> mapped_then;
};

// The card is large enough for chunks of two granules.
class SharingTest : public testing::Test {
 protected:
  DeviceAddress Allocate(Bytes bytes) {
    return std::get<DeviceAddress>(allocator_.Allocate(bytes, StreamId{1}));
  }

  OpenVmm vmm_{{.capacity = 13_GiB}};  // chunks of two granules
  MemoryStreams streams_;
  AllocationObserver nobody_;
  CachingAllocator allocator_{{}, vmm_, streams_, nobody_};
};

TEST_F(SharingTest, SharingABlockSharesTheChunksUnderIt) {
  const DeviceAddress below = Allocate(3_MiB);  // one chunk of 4 MiB
  const DeviceAddress block = Allocate(5_MiB);  // its last MiB, and a chunk of 4 MiB
  const auto shared = allocator_.sharing().Share(block + 1_MiB);
  ASSERT_TRUE(shared.ok());
  ASSERT_EQ(shared->size(), 2u);
  EXPECT_THAT(vmm_.shared, ElementsAre(below, below + 4_MiB));
  EXPECT_EQ((*shared)[1].chunk.size, 4_MiB);
  EXPECT_GE((*shared)[1].descriptor.get(), 0);
}

TEST_F(SharingTest, FreedBlockIsNotShared) {
  const DeviceAddress block = Allocate(4_MiB);
  ASSERT_TRUE(allocator_.Free(block).ok());
  EXPECT_TRUE(absl::IsNotFound(allocator_.sharing().Share(block).status()));
  EXPECT_TRUE(absl::IsNotFound(allocator_.sharing().ChunksUnder(block).status()));
}

TEST_F(SharingTest, NewMappingAtTheSameAddressHasANewSerial) {
  const DeviceAddress block = Allocate(4_MiB);
  const uint64_t before = allocator_.sharing().ChunksUnder(block)->front().serial;
  ASSERT_TRUE(allocator_.Free(block).ok());
  ASSERT_TRUE(allocator_.EmptyCache().ok());
  ASSERT_EQ(Allocate(4_MiB), block);
  EXPECT_NE(allocator_.sharing().ChunksUnder(block)->front().serial, before);
}

TEST_F(SharingTest, PeerIsAdmittedToAllMappedChunks) {
  Allocate(512);
  Allocate(8_MiB);
  ASSERT_TRUE(allocator_.sharing().Admit(DeviceIndex{1}).ok());
  EXPECT_EQ(vmm_.admitted, DeviceIndex{1});
  EXPECT_THAT(vmm_.mapped_then,
              ElementsAre(Field(&MappedChunk::size, 2_MiB), Field(&MappedChunk::size, 4_MiB),
                          Field(&MappedChunk::size, 4_MiB)));
}

TEST_F(SharingTest, PeerCanBeAdmittedToAnEmptyCard) {
  ASSERT_TRUE(allocator_.sharing().Admit(DeviceIndex{1}).ok());
  EXPECT_THAT(vmm_.mapped_then, IsEmpty());
}

}  // namespace
}  // namespace memtrace
