// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/frees/capture_frees.h"

#include <gmock/gmock.h>

#include <optional>
#include <vector>

#include "tests/allocator/heap/heap_parts.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Blocks of kMain, in a capture that kSide has joined.
class CaptureFreesTest : public HeapParts {
 protected:
  CaptureFreesTest() { captures_.SetEnabled(true); }

  void BeginCapture() {
    streams_.BeginCapture(kMain);
    streams_.Queue(kMain);
    streams_.WaitInCapture(kSide, kMain);
  }
  // Returns a block on which work of kSide is queued.
  Block* Shared() { return Share(Allocate(4_MiB), kSide); }
  Block* FreeShared() {
    Block* block = Shared();
    captures_.Add(block);
    return block;
  }

  CaptureFrees captures_{&streams_};
};

TEST_F(CaptureFreesTest, BlockIsTakenOnceItsStreamHasJoinedTheOthers) {
  BeginCapture();
  Block* block = FreeShared();
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty());
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), ElementsAre(block));
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty()) << "it is forgotten";
}

// The drawing in the header: nodes captured after the free do not use the block.
TEST_F(CaptureFreesTest, OnlyUsesBeforeTheFreeMatter) {
  BeginCapture();
  Block* early = FreeShared();
  streams_.WaitInCapture(kMain, kSide);
  Block* late = FreeShared();
  EXPECT_THAT(captures_.TakeOrdered(kMain), ElementsAre(early));
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), ElementsAre(late));
}

TEST_F(CaptureFreesTest, OnlyTheBlocksOwnStreamCanTakeIt) {
  BeginCapture();
  FreeShared();
  EXPECT_THAT(captures_.TakeOrdered(kSide), IsEmpty());
  EXPECT_EQ(failures_.calls(DriverCall::kDone), 0U) << "the graph is not walked for it";
}

TEST_F(CaptureFreesTest, BlockUsedByAStreamOutsideTheCaptureIsNotTaken) {
  BeginCapture();
  Block* block = Shared();
  Share(block->address, StreamId{3});
  captures_.Add(block);
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty());
}

TEST_F(CaptureFreesTest, BlockOfAStreamThatIsNotCapturedIsIgnored) {
  Block* block = Shared();
  captures_.Add(block);
  BeginCapture();
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty());
}

TEST_F(CaptureFreesTest, ExcludedBlockIsIgnoredOnce) {
  BeginCapture();
  Block* block = Shared();
  captures_.Exclude(block);
  captures_.Add(block);
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty());
  captures_.Add(block);  // its record is reused for another block by now
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), ElementsAre(block));
}

TEST_F(CaptureFreesTest, LaterCaptureDoesNotOrderEarlierFrees) {
  BeginCapture();
  FreeShared();
  streams_.EndCapture(kMain);
  streams_.EndCapture(kSide);
  BeginCapture();
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty());
}

// A driver that reuses the nodes of a destroyed graph for another one.
class UsedAgainGraphs final : public CaptureGraphs {
 public:
  std::optional<Position> FindPosition(StreamId /*stream*/) override {
    return Position{.capture = capture, .ends = {GraphNode{1}}};
  }
  absl::StatusOr<std::vector<GraphNode>> Predecessors(GraphNode /*node*/) override {
    return std::vector<GraphNode>();
  }

  CaptureId capture{1};
};

TEST_F(CaptureFreesTest, EqualNodesOfAnotherCaptureDoNotCount) {
  UsedAgainGraphs graphs;
  CaptureFrees captures(&graphs);
  captures.SetEnabled(true);
  Block* block = Shared();
  captures.Add(block);
  graphs.capture = CaptureId{2};
  EXPECT_THAT(captures.TakeOrdered(kMain), IsEmpty());
  graphs.capture = CaptureId{1};
  EXPECT_THAT(captures.TakeOrdered(kMain), ElementsAre(block));
}

TEST_F(CaptureFreesTest, FailedDriverQueryIsRetried) {
  BeginCapture();
  Block* block = FreeShared();
  streams_.WaitInCapture(kMain, kSide);
  streams_.Queue(kMain);  // whose predecessors are queried
  failures_.FailNth(DriverCall::kDone, 1, CallFailures::Repeat::kOnce,
                    absl::InternalError("no answer"));
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty());
  EXPECT_THAT(captures_.TakeOrdered(kMain), ElementsAre(block));
}

// cuStreamUpdateCaptureDependencies: earlier nodes need not come before any more.
TEST_F(CaptureFreesTest, ReplacedDependenciesAreReexamined) {
  BeginCapture();
  Block* second = Shared();
  Block* first = FreeShared();
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), ElementsAre(first));
  captures_.Add(second);  // all its uses come before
  streams_.ReplaceEnds(kMain, {});
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty());
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), ElementsAre(second));
}

TEST_F(CaptureFreesTest, NothingIsTakenIfDisabledOrCleared) {
  BeginCapture();
  captures_.SetEnabled(false);
  FreeShared();
  captures_.SetEnabled(true);
  FreeShared();
  captures_.Clear();
  streams_.WaitInCapture(kMain, kSide);
  EXPECT_THAT(captures_.TakeOrdered(kMain), IsEmpty());
  EXPECT_FALSE(CaptureFrees(nullptr).enabled());
}

}  // namespace
}  // namespace memtrace
