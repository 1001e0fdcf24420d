// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// A pass that keeps a letter for each block, and records the calls that it gets.
#include "tools/analysis/replayed/block_lives.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tools/analysis/replayed/block_walk.h"
#include "tools/analysis/replayed/live_set.h"
#include "tools/analysis/replayed/timeline.h"
#include "tools/analysis/views/block_index.h"

namespace memtrace::analysis {
namespace {

using Lives = BlockLives<char>;

std::string_view NameOf(FreeBy by) {
  if (by == FreeBy::kRequest) return "request";
  return by == FreeBy::kCompletion ? "completion" : "reuse";
}

class BlockLivesTest : public testing::Test {
 protected:
  void Happens(const trace::Payload& payload) {
    lives_.Apply(payload, [this](const auto& happened) { Apply(happened); });
  }
  void Allocate(uint64_t address, int32_t device = 0, uint64_t bytes = 100) {
    Happens(trace::Allocate{.device = device, .address = address, .requested = bytes});
  }
  void FindAlive(uint64_t address, bool waiting = false) {
    Happens(trace::Alive{.block = {.address = address, .requested = 100},
                         .waiting = static_cast<uint8_t>(waiting ? 1 : 0)});
  }
  void Request(uint64_t address, int32_t device = 0) {
    Happens(trace::FreeRequested{device, address});
  }
  void Complete(uint64_t address, int32_t device = 0) {
    Happens(trace::FreeCompleted{device, address});
  }
  // Returns the calls since the last one of this function.
  std::string Told() { return std::exchange(told_, ""); }
  // Returns "a 512-612": the block, and which of its bytes a label covers.
  std::string Labelled(uint64_t address, uint64_t size) {
    const auto labelled = lives_.LabelledBy({.address = address, .size = size},
                                            [](char /*block*/) { return uint64_t{100}; });
    if (!labelled) return "";
    return std::string(1, labelled->block) + " " + std::to_string(labelled->begin) + "-" +
           std::to_string(labelled->end);
  }

  Lives lives_;

 private:
  void Apply(const Lives::Born& born) {
    EXPECT_EQ(born.block, '\0') << "what was kept of another block";
    born.block = next_++;
    Tell(std::string("born ") + born.block);
  }
  void Apply(const Lives::Found& found) {
    EXPECT_EQ(found.block, '\0') << "what was kept of another block";
    found.block = next_++;
    Tell(std::string("found ") + found.block);
  }
  void Apply(const Lives::LetGo& let_go) {
    Tell(std::string("let go ") + let_go.block + " by " + std::string(NameOf(let_go.by)));
  }
  void Apply(const Lives::Ended& ended) {
    Tell(std::string("ended ") + ended.block + " by " + std::string(NameOf(ended.by)));
  }
  void Apply(const Lives::Stray& stray) {
    const std::string block = stray.block == nullptr ? "nothing" : std::string(1, *stray.block);
    Tell("stray " + std::string(NameOf(stray.by)) + " of " + block + " at " +
         std::to_string(stray.device) + ":" + std::to_string(stray.address));
  }
  template <typename Other>
  void Apply(const Other& /*event*/) {
    Tell("another event");
  }
  void Tell(const std::string& text) { told_ += (told_.empty() ? "" : ", ") + text; }

  std::string told_;
  char next_ = 'a';
};

TEST_F(BlockLivesTest, BlockIsBornReleasedAndEnded) {
  Allocate(512);
  EXPECT_EQ(Told(), "born a");
  Request(512);
  EXPECT_EQ(Told(), "let go a by request");
  EXPECT_TRUE(lives_.At(0, 512)->waiting);
  Complete(512);
  EXPECT_EQ(Told(), "ended a by completion");
  EXPECT_EQ(lives_.At(0, 512), nullptr);
}

TEST_F(BlockLivesTest, BlockWithALostFreeEndsWhenItsAddressIsReused) {
  Allocate(512);
  Allocate(512);
  EXPECT_EQ(Told(), "born a, let go a by reuse, ended a by reuse, born b");
  EXPECT_FALSE(lives_.At(0, 512)->waiting);
  Request(512);
  Allocate(512);
  EXPECT_EQ(Told(), "let go b by request, ended b by reuse, born c");
}

TEST_F(BlockLivesTest, BlockOlderThanTheTraceIsFoundAndFreed) {
  FindAlive(512);
  Request(512);
  Complete(512);
  EXPECT_EQ(Told(), "found a, let go a by request, ended a by completion");
}

TEST_F(BlockLivesTest, BlockFoundWaitingIsNotReleasedAgain) {
  FindAlive(512, /*waiting=*/true);
  EXPECT_TRUE(lives_.At(0, 512)->waiting);
  Complete(512);
  EXPECT_EQ(Told(), "found a, ended a by completion");
}

TEST_F(BlockLivesTest, BlockFoundTwiceEndsTheFirst) {
  FindAlive(512);
  FindAlive(512);
  EXPECT_EQ(Told(), "found a, let go a by reuse, ended a by reuse, found b");
}

TEST_F(BlockLivesTest, SecondFreeRequestIsAStrayOfTheSameBlock) {
  Allocate(512);
  Request(512);
  Told();
  Request(512);
  EXPECT_EQ(Told(), "stray request of a at 0:512");
  Complete(512);
  EXPECT_EQ(Told(), "ended a by completion");
}

TEST_F(BlockLivesTest, CompletionWithoutARequestReleasesAndEnds) {
  Allocate(512);
  Complete(512);
  EXPECT_EQ(Told(), "born a, let go a by completion, ended a by completion");
}

TEST_F(BlockLivesTest, FreeOfAnUnknownAddressIsAStrayWithoutABlock) {
  Allocate(512);
  Told();
  Request(600);
  Complete(600);
  EXPECT_EQ(Told(), "stray request of nothing at 0:600, stray completion of nothing at 0:600");
  EXPECT_NE(lives_.At(0, 512), nullptr);
}

TEST_F(BlockLivesTest, SameAddressOnTwoCardsIsTwoBlocks) {
  Allocate(512, 0);
  Allocate(512, 1);
  EXPECT_EQ(Told(), "born a, born b");
  Request(512, 1);
  Complete(512, 1);
  EXPECT_EQ(Told(), "let go b by request, ended b by completion");
  EXPECT_FALSE(lives_.At(0, 512)->waiting);
  Complete(512, 2);
  EXPECT_EQ(Told(), "stray completion of nothing at 2:512");
}

TEST_F(BlockLivesTest, LabelCoversRequestedBytesOfTheBlockAtItsAddress) {
  Allocate(512);
  Allocate(1024);
  EXPECT_EQ(Labelled(512, 0), "a 512-612") << "a size of 0 is all of the rest";
  EXPECT_EQ(Labelled(600, 0), "a 600-612");
  EXPECT_EQ(Labelled(600, 5), "a 600-605");
  EXPECT_EQ(Labelled(600, 4096), "a 600-612") << "not beyond its block";
  EXPECT_EQ(Labelled(1100, 8), "b 1100-1108");
  EXPECT_EQ(Labelled(612, 8), "") << "behind the requested bytes";
  EXPECT_EQ(Labelled(511, 8), "") << "before every block";
}

TEST_F(BlockLivesTest, LabelOfAFreedBlockCoversNothing) {
  Allocate(512);
  Request(512);
  EXPECT_EQ(Labelled(512, 8), "a 512-520") << "it waits, and its bytes are still there";
  Complete(512);
  EXPECT_EQ(Labelled(512, 8), "");
  Allocate(512);
  EXPECT_EQ(Labelled(512, 8), "b 512-520");
}

TEST_F(BlockLivesTest, OtherEventsAreForwarded) {
  Happens(trace::Map{.size = 512});
  Happens(trace::Relabel{.address = 512});
  EXPECT_EQ(Told(), "another event, another event");
}

TEST_F(BlockLivesTest, CopyIsIndependent) {
  Allocate(512);
  Lives copy = lives_;
  Complete(512);
  EXPECT_NE(copy.At(0, 512), nullptr);
  copy.Apply(trace::FreeRequested{0, 512}, [](const auto& /*happened*/) {});
  EXPECT_TRUE(copy.At(0, 512)->waiting);
  lives_ = Lives();
  Allocate(512);
  EXPECT_FALSE(lives_.At(0, 512)->waiting);
}

// One trace with everything that can be wrong: all passes must say the same about it.
class AgreeingPassesTest : public testing::Test {
 protected:
  template <typename Payload>
  void Happens(const Payload& payload) {
    const trace::Event event{.sequence = ++number_, .time_ns = number_, .payload = payload};
    walk_.Apply(event);
    live_.Apply(event);
  }
  void Allocate(uint64_t address, trace::StringId module = 0) {
    Happens(trace::Allocate{.address = address, .requested = 100, .module = module});
  }

  uint64_t number_ = 0;
  BlockWalk walk_;
  LiveSet live_;
};

TEST_F(AgreeingPassesTest, FirstFreeRequestEndsUse) {
  Allocate(512);
  const BlockId id = live_.Capture(0).at(0).id;
  Happens(trace::FreeRequested{0, 512});
  ASSERT_NE(walk_.let_go(), nullptr);
  Happens(trace::FreeRequested{0, 512});
  EXPECT_EQ(walk_.let_go(), nullptr);
  ASSERT_NE(walk_.block(), nullptr) << "the event is of that block all the same";
  EXPECT_EQ(walk_.block()->free_requested->ordinal, 2U);
  Happens(trace::FreeCompleted{0, 512});
  EXPECT_EQ(walk_.ended()->free_requested->ordinal, 2U);
  EXPECT_EQ(live_.block(id).died_ns, 2U);
}

TEST_F(AgreeingPassesTest, LostFreeHasNoRequest) {
  Allocate(512);
  Allocate(512);
  ASSERT_NE(walk_.ended(), nullptr);
  EXPECT_EQ(walk_.ended()->number, 0U);
  EXPECT_EQ(walk_.let_go(), walk_.ended());
  EXPECT_FALSE(walk_.ended()->free_requested.has_value());
  ASSERT_NE(walk_.block(), nullptr);
  EXPECT_EQ(walk_.block()->number, 1U);
}

// The page and exports show the same role as the report: the block is released when its address is
// given again, in the call of another module.
TEST_F(AgreeingPassesTest, BlockWithALostFreeHasOneRoleEverywhere) {
  BlockIndex index(Evidence::kStated);
  const auto both = [&](const auto& payload) {
    Happens(payload);
    index.Apply({.sequence = number_, .time_ns = number_, .payload = payload});
  };
  both(trace::PhaseChange{.phase = trace::Phase::kForward});
  both(trace::Allocate{.address = 512, .requested = 100, .module = 1});
  const BlockId id = live_.Capture(0).at(0).id;
  both(trace::Allocate{.address = 512, .requested = 100, .module = 2});
  index.Finish();
  EXPECT_EQ(MainIdentity(id, live_, Evidence::kStated).role, trace::Role::kActivation);
  EXPECT_EQ(index.Main(0).role, trace::Role::kActivation);
}

}  // namespace
}  // namespace memtrace::analysis
