// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/pools/pool_checkpoint.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/allocator/heap/heap_parts.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;

class PoolCheckpointTest : public HeapParts {
 protected:
  PoolCheckpoint Make() {
    heap_.groups().MergeRecent();
    return MakeCheckpoint(heap_.groups(), *heap_.pools().Find(kPool));
  }
  bool CanRestore(const PoolCheckpoint& checkpoint) {
    heap_.groups().MergeRecent();
    return CheckCanRestore(heap_.groups(), checkpoint).ok();
  }
};

TEST_F(PoolCheckpointTest, CheckpointListsBlocksInUseFromTheHighestAddress) {
  const DeviceAddress first = AllocateIn(kPool, 4_MiB);
  const DeviceAddress second = AllocateIn(kPool, 4_MiB - 100);
  const DeviceAddress third = AllocateIn(kPool, 4_MiB);
  Allocate(4_MiB);
  Free(first);
  const PoolCheckpoint checkpoint = Make();
  std::vector<DeviceAddress> addresses;
  addresses.reserve(checkpoint.blocks.size());
  for (const auto& block : checkpoint.blocks) addresses.push_back(block.address);
  EXPECT_THAT(addresses, ElementsAre(third, second));
  EXPECT_EQ(checkpoint.blocks.at(1).requested, 4_MiB - 100);
  EXPECT_EQ(checkpoint.pool, kPool);
}

// The blocks in use now are freed first.
TEST_F(PoolCheckpointTest, CheckpointCanBeRestoredAfterItsMemoryIsSplit) {
  const DeviceAddress first = AllocateIn(kPool, 4_MiB);
  const DeviceAddress second = AllocateIn(kPool, 4_MiB);
  const PoolCheckpoint checkpoint = Make();
  Free(first);
  Free(second);
  AllocateIn(kPool, 2_MiB);
  AllocateIn(kPool, 5_MiB);
  EXPECT_TRUE(CanRestore(checkpoint));
}

TEST_F(PoolCheckpointTest, ReleasedMemoryCannotBeRestored) {
  const DeviceAddress address = AllocateIn(kPool, 4_MiB);
  const PoolCheckpoint checkpoint = Make();
  Free(address);
  heap_.groups().MergeRecent();
  ASSERT_TRUE(heap_.pools().Release(kPool).ok());
  ASSERT_TRUE(heap_.groups().TakeBackFrom(*heap_.pools().Find(kPool)).ok());
  ASSERT_EQ(vmm_.used(), 0U);
  EXPECT_FALSE(CanRestore(checkpoint));
  EXPECT_TRUE(CanRestore({.pool = kPool, .blocks = {}}));
}

TEST_F(PoolCheckpointTest, MemoryThatAnotherStreamMayUseCannotBeRestored) {
  const DeviceAddress low = AllocateIn(kPool, 4_MiB);
  const DeviceAddress high = AllocateIn(kPool, 4_MiB);
  const PoolCheckpoint checkpoint = Make();
  Share(high, kSide);
  EXPECT_FALSE(CanRestore(checkpoint)) << "it would have to wait once it is freed";
  Free(high);
  EXPECT_FALSE(CanRestore(checkpoint)) << "it waits";
  streams_.Finish(kSide);
  heap_.waiting().CompleteDone(kMain);
  EXPECT_TRUE(CanRestore(checkpoint));
  Free(low);
}

}  // namespace
}  // namespace memtrace
