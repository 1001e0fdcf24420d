// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/machine.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace memtrace::card {
namespace {

// Returns the cards' sizes, joined.
std::string Visible(const char* visible_devices) {
  std::vector<CardSpec> cards(3);
  for (std::size_t i = 0; i < cards.size(); ++i) cards[i].bytes = i;
  std::string text;
  for (const CardSpec& card : VisibleCards(cards, visible_devices))
    text += std::to_string(card.bytes);
  return text;
}

TEST(VisibleCardsTest, CudaVisibleDevicesSelectsCardsUpToTheFirstInvalidOne) {
  EXPECT_EQ(Visible(nullptr), "012");
  EXPECT_EQ(Visible(""), "");
  EXPECT_EQ(Visible("1"), "1");
  EXPECT_EQ(Visible("2,0"), "20");
  EXPECT_EQ(Visible("-1"), "");
  EXPECT_EQ(Visible("1,7,0"), "1");
  EXPECT_EQ(Visible("2, 0"), "20");
}

TEST(VisibleCardsTest, UuidMayBeShortenedIfUnambiguous) {
  EXPECT_EQ(Visible(UuidTextOf(2).c_str()), "2");
  EXPECT_EQ(Visible((UuidTextOf(1) + ",0").c_str()), "10");
  EXPECT_EQ(Visible("GPU-6d65"), "");
  EXPECT_EQ(Visible("GPU-x,0"), "");
}

TEST(MachineTest, ContextsAreChargedOncePerCard) {
  Machine machine({{.bytes = 100, .context_bytes = 10}, {.bytes = 100, .context_bytes = 10}}, 0);
  Context* context = nullptr;
  ASSERT_EQ(machine.contexts.Retain(1, &context), Result::kSuccess);
  ASSERT_EQ(machine.contexts.Retain(1, &context), Result::kSuccess);
  EXPECT_EQ(context->device, 1);
  EXPECT_EQ(machine.CardAt(0).CurrentLedger().free, 100u);
  EXPECT_EQ(machine.CardAt(1).CurrentLedger().free, 90u);
  Context* ended = nullptr;
  EXPECT_EQ(machine.contexts.Release(1, &ended), Result::kSuccess);
  EXPECT_EQ(ended, nullptr);
  EXPECT_EQ(machine.contexts.Release(1, &ended), Result::kSuccess);
  EXPECT_EQ(ended, context);
  EXPECT_EQ(machine.CardAt(1).CurrentLedger().free, 100u);
  EXPECT_EQ(machine.contexts.Release(1, &ended), Result::kInvalidContext);
}

class ContextStackTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(machine_.contexts.Retain(0, &first_), Result::kSuccess);
    ASSERT_EQ(machine_.contexts.Retain(1, &second_), Result::kSuccess);
  }
  void TearDown() override {
    while (Contexts::Current() != nullptr) Pop();
  }
  static Context* Pop() {
    Context* popped = nullptr;
    EXPECT_EQ(Contexts::Pop(&popped), Result::kSuccess);
    return popped;
  }

  Machine machine_{{{.bytes = 100}, {.bytes = 100}}, 0};
  Contexts& contexts_ = machine_.contexts;
  Context* first_ = nullptr;
  Context* second_ = nullptr;
};

TEST_F(ContextStackTest, PoppingRestoresTheContextBelow) {
  ASSERT_EQ(contexts_.Push(first_), Result::kSuccess);
  ASSERT_EQ(contexts_.Push(second_), Result::kSuccess);
  EXPECT_EQ(Contexts::Current(), second_);
  EXPECT_EQ(Pop(), second_);
  EXPECT_EQ(Contexts::Current(), first_);
}

TEST_F(ContextStackTest, SetCurrentReplacesTheTopAndNullPopsIt) {
  ASSERT_EQ(contexts_.Push(first_), Result::kSuccess);
  ASSERT_EQ(contexts_.Push(first_), Result::kSuccess);
  ASSERT_EQ(contexts_.SetCurrent(second_), Result::kSuccess);
  EXPECT_EQ(Contexts::Current(), second_);
  ASSERT_EQ(contexts_.SetCurrent(nullptr), Result::kSuccess);
  EXPECT_EQ(Contexts::Current(), first_);
}

TEST_F(ContextStackTest, EmptyPopAndInvalidPushAreRejected) {
  Context* popped = nullptr;
  EXPECT_EQ(Contexts::Pop(&popped), Result::kInvalidContext);
  EXPECT_EQ(contexts_.SetCurrent(nullptr), Result::kSuccess);
  EXPECT_EQ(contexts_.Push(nullptr), Result::kInvalidContext);
  EXPECT_EQ(contexts_.Push(&popped), Result::kInvalidContext);
}

TEST_F(ContextStackTest, StackDepthIsLimited) {
  for (uint32_t i = 0; i < Contexts::kDeepestStack; ++i) {
    ASSERT_EQ(contexts_.Push(first_), Result::kSuccess);
  }
  EXPECT_EQ(contexts_.Push(first_), Result::kOutOfMemory);
}

TEST_F(ContextStackTest, EachThreadHasItsOwnStack) {
  ASSERT_EQ(contexts_.Push(first_), Result::kSuccess);
  std::thread([] { EXPECT_EQ(Contexts::Current(), nullptr); }).join();
}

TEST(MachineTest, PinnedHostMemoryIsChargedToNoCard) {
  Machine machine({{.bytes = 100}}, 0);
  HostMemory& host = machine.host_memory;
  void* pinned = nullptr;
  ASSERT_EQ(host.Allocate(1 << 20, 0, &pinned), Result::kSuccess);
  static_cast<char*>(pinned)[5] = 1;
  EXPECT_TRUE(host.Find(static_cast<char*>(pinned) + 5).has_value());
  EXPECT_EQ(machine.CardAt(0).CurrentLedger().free, 100u);
  EXPECT_EQ(host.Register(pinned, 10, 0), Result::kHostMemoryAlreadyRegistered);
  EXPECT_EQ(host.Unregister(pinned), Result::kHostMemoryNotRegistered);
  EXPECT_EQ(host.Free(pinned), Result::kSuccess);
  EXPECT_EQ(host.Free(pinned), Result::kInvalidValue);
  int mine[10] = {};
  EXPECT_EQ(host.Register(mine, sizeof(mine), 0), Result::kSuccess);
  EXPECT_EQ(host.Register(mine + 1, 4, 0), Result::kHostMemoryAlreadyRegistered);
  EXPECT_EQ(host.Unregister(mine), Result::kSuccess);
  EXPECT_EQ(host.Unregister(mine), Result::kHostMemoryNotRegistered);
}

}  // namespace
}  // namespace memtrace::card
