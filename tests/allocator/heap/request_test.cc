// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The options that restrict a request: only_free maps no memory, is_not_free skips the quick
// search.
#include "allocator/heap/parts/request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <variant>

#include "allocator/plan/plan.h"
#include "tests/allocator/card.h"

namespace memtrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns 0 if no free memory fits.
DeviceAddress AllocateFree(Card& card, Bytes bytes, StreamId stream = kMain) {
  const AllocationResult result =
      card.allocator.Allocate({.bytes = bytes, .stream = stream, .only_free = true});
  card.allocator.CheckInvariants();
  if (const auto* address = std::get_if<DeviceAddress>(&result)) return *address;
  EXPECT_EQ(std::get<absl::Status>(result).code(), absl::StatusCode::kResourceExhausted);
  return {};
}

// Returns the number of driver calls other than the queries of events.
uint64_t CallsButQuestions(const Card& card) {
  return card.failures.calls() - card.failures.calls(DriverCall::kDone);
}

// A plan with places for two blocks of 4 MiB, one after the other at the same address.
CachingAllocator::Options FollowingOnePlace() {
  PlanSection section;
  section.items = {{4_MiB, 0}, {4_MiB, 0}};
  section.bytes = 4_MiB;
  auto plan = std::make_shared<Plan>();
  plan->Add(std::move(section));
  return {.plan = std::move(plan)};
}

TEST(OnlyFreeTest, FreeMemoryIsServedWithoutTheDriver) {
  Card card(64_MiB);
  const DeviceAddress block = card.Allocate(4_MiB);
  EXPECT_TRUE(card.Free(block).ok());
  const uint64_t calls = card.failures.calls();
  EXPECT_EQ(AllocateFree(card, 4_MiB), block);
  EXPECT_EQ(card.failures.calls(), calls);
}

TEST(OnlyFreeTest, MissMakesNoDriverCallAndNoEvent) {
  Card card(64_MiB);
  EXPECT_TRUE(AllocateFree(card, 4_MiB).is_null());
  EXPECT_EQ(card.failures.calls(), 0u);
  card.Allocate(4_MiB);
  const uint64_t calls = card.failures.calls();
  card.observer.Lines();
  EXPECT_TRUE(AllocateFree(card, 4_MiB).is_null());
  EXPECT_EQ(card.failures.calls(), calls);
  EXPECT_THAT(card.observer.Lines(), IsEmpty());
  EXPECT_EQ(card.allocator.accounts().statistics().num_ooms, 0);
  EXPECT_EQ(card.allocator.accounts().statistics().num_alloc_retries, 0);
}

TEST(OnlyFreeTest, FreeMemoryOfOtherStreamsIsNotTaken) {
  Card card(64_MiB);
  EXPECT_TRUE(card.Free(card.Allocate(64_MiB, kSide)).ok());
  EXPECT_TRUE(AllocateFree(card, 4_MiB).is_null());
  EXPECT_THAT(card.Contents(), ElementsAre("2 large: (64MiB)"));
}

TEST(OnlyFreeTest, OnlyFinishedFreesAreCompleted) {
  Card card(64_MiB);
  const DeviceAddress block = card.Allocate(4_MiB);
  EXPECT_TRUE(card.Share(block, 4_MiB, kSide).ok());
  EXPECT_TRUE(card.Free(block).ok());
  const uint64_t calls = CallsButQuestions(card);
  EXPECT_TRUE(AllocateFree(card, 4_MiB).is_null());
  EXPECT_THAT(card.Contents(), ElementsAre("1 large: 4MiB?"));
  card.streams.Finish(kSide);
  EXPECT_EQ(AllocateFree(card, 4_MiB), block);
  EXPECT_EQ(CallsButQuestions(card), calls);
}

TEST(IsNotFreeTest, QuickSearchIsSkipped) {
  Card card(64_MiB, FollowingOnePlace());
  EXPECT_TRUE(card.Free(card.Allocate(4_MiB)).ok());
  // Only the quick search gives a planned block to a request with only_free.
  EXPECT_TRUE(std::holds_alternative<absl::Status>(card.allocator.Allocate(
      {.bytes = 4_MiB, .stream = kMain, .is_not_free = true, .only_free = true})));
  EXPECT_FALSE(AllocateFree(card, 4_MiB).is_null());
}

TEST(IsNotFreeTest, MemoryFreedSinceIsServedWithoutTheDriver) {
  Card card(64_MiB);
  const DeviceAddress block = card.Allocate(4_MiB);
  EXPECT_TRUE(AllocateFree(card, 4_MiB).is_null());
  EXPECT_TRUE(card.Free(block).ok());
  const uint64_t calls = card.failures.calls();
  const AllocationResult result =
      card.allocator.Allocate({.bytes = 4_MiB, .stream = kMain, .is_not_free = true});
  EXPECT_EQ(std::get<DeviceAddress>(result), block);
  EXPECT_EQ(card.failures.calls(), calls);
}

TEST(IsNotFreeTest, MemoryIsMappedIfNothingIsFree) {
  Card card(64_MiB);
  const AllocationResult result =
      card.allocator.Allocate({.bytes = 4_MiB, .stream = kMain, .is_not_free = true});
  EXPECT_TRUE(std::holds_alternative<DeviceAddress>(result));
  EXPECT_EQ(card.vmm.used(), 4_MiB);
}

}  // namespace
}  // namespace memtrace
