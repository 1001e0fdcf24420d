// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/snapshot.h"

#include <gmock/gmock.h>

#include <variant>
#include <vector>

#include "tests/allocator/heap/heap_parts.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = BlockView::State;

class SnapshotTest : public HeapParts {
 protected:
  std::vector<SegmentView> Snapshot() {
    heap_.groups().MergeRecent();
    return SnapshotOf(heap_.groups());
  }
  static std::vector<Bytes> SizesOf(const SegmentView& view) {
    std::vector<Bytes> sizes;
    sizes.reserve(view.blocks.size());
    for (const BlockView& block : view.blocks) sizes.push_back(block.size);
    return sizes;
  }
};

TEST_F(SnapshotTest, UnmappedAddressSpaceIsNotASegment) {
  Free(Allocate(4_MiB));
  ASSERT_TRUE(heap_.EmptyCache({}).ok());
  EXPECT_EQ(vmm_.live_reservations(), 1U);
  EXPECT_THAT(Snapshot(), IsEmpty());
}

TEST_F(SnapshotTest, EachMappedRangeIsASeparateSegment) {
  const DeviceAddress low = Allocate(4_MiB);
  const DeviceAddress middle = Allocate(8_MiB);
  const DeviceAddress high = Allocate(2_MiB);
  Free(middle);
  ASSERT_TRUE(heap_.EmptyCache({}).ok());
  const auto views = Snapshot();
  ASSERT_EQ(views.size(), 2U);
  EXPECT_EQ(views[0].address, low);
  EXPECT_EQ(views[0].size, 4_MiB);
  EXPECT_EQ(views[1].address, high);
  EXPECT_EQ(views[1].size, 2_MiB);
}

TEST_F(SnapshotTest, BlocksTileTheirSegmentWithStateAndContext) {
  const AllocationResult kept =
      heap_.Allocate({.bytes = 3_MiB - 100, .stream = kMain, .context = ContextId{77}}, 3_MiB);
  const DeviceAddress waits = Allocate(2_MiB);
  Share(waits, kSide);
  Free(waits);
  const SegmentView view = Snapshot().at(0);
  EXPECT_THAT(SizesOf(view), ElementsAre(3_MiB, 2_MiB, 1_MiB));
  EXPECT_EQ(view.size, 6_MiB);
  EXPECT_EQ(view.blocks[0].state, State::kAllocated);
  EXPECT_EQ(view.blocks[0].address, std::get<DeviceAddress>(kept));
  EXPECT_EQ(view.blocks[0].requested, 3_MiB - 100);
  EXPECT_EQ(view.blocks[0].context, ContextId{77});
  EXPECT_EQ(view.blocks[1].state, State::kPendingFree);
  EXPECT_EQ(view.blocks[2].state, State::kFree);
  EXPECT_EQ(view.blocks[2].requested, 0U);
}

TEST_F(SnapshotTest, SegmentsAreSortedAndNameStreamAndPool) {
  Allocate(4_MiB, kSide);
  Allocate(512);
  heap_.pools().Retain(kPool).no_split = true;
  AllocateIn(kPool, 4_MiB);
  const auto views = Snapshot();
  ASSERT_EQ(views.size(), 3U);
  EXPECT_EQ(views[0].stream, kSide);
  EXPECT_FALSE(views[0].small);
  EXPECT_TRUE(views[1].small);
  EXPECT_TRUE(views[1].expandable);
  EXPECT_EQ(views[2].pool, kPool);
  EXPECT_FALSE(views[2].expandable) << "its segments hold a block each";
  EXPECT_LT(views[0].address, views[1].address);
  EXPECT_LT(views[1].address, views[2].address);
}

}  // namespace
}  // namespace memtrace
