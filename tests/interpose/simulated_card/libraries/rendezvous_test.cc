// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/collectives/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace memtrace::card {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

class RendezvousTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    name_ = "memtrace-test-" + std::to_string(getpid()) + "-" + info->name();
    ASSERT_TRUE(OpenRendezvous(name_));
  }

  std::unique_ptr<RendezvousMember> Join(int rank, int size) const {
    auto member = RendezvousMember::Join(name_, rank, size);
    EXPECT_NE(member, nullptr);
    return member;
  }

  std::string name_;
};

TEST_F(RendezvousTest, GatherReturnsAllPartsByRank) {
  const auto second = Join(1, 2);
  const auto first = Join(0, 2);
  const auto from_second = second->Gather("two");
  const auto from_first = first->Gather("");
  EXPECT_THAT(first->Answer(from_first), Optional(ElementsAre("", "two")));
  EXPECT_THAT(second->Answer(from_second), Optional(ElementsAre("", "two")));
}

TEST_F(RendezvousTest, RequestsDoNotWaitForEachOther) {
  const auto first = Join(0, 2);
  const auto second = Join(1, 2);
  // More than a socket holds, so that a member that waited for an answer would wait forever.
  const std::string large(4u << 20, 'x');
  std::vector<RendezvousMember::Ticket> tickets;
  tickets.reserve(4);
  for (int i = 0; i < 4; ++i) tickets.push_back(first->Gather(large));
  std::thread other([&] {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(second->Answer(second->Gather(std::to_string(i))));
  });
  EXPECT_THAT(first->Answer(tickets[3]), Optional(ElementsAre(large, "3")));
  EXPECT_THAT(first->Answer(tickets[0]), Optional(ElementsAre(large, "0")));
  other.join();
}

TEST_F(RendezvousTest, SentMessagesAreReceivedInOrder) {
  const auto first = Join(0, 2);
  const auto second = Join(1, 2);
  const auto early = second->Receive(0);
  first->Send(1, "a");
  first->Send(1, "b");
  EXPECT_THAT(second->Answer(early), Optional(ElementsAre("a")));
  EXPECT_THAT(second->Answer(second->Receive(0)), Optional(ElementsAre("b")));
}

TEST_F(RendezvousTest, AnswersThatNobodyAwaitsAreTakenWhenTheyCome) {
  const auto first = Join(0, 2);
  const auto second = Join(1, 2);
  std::vector<std::string> taken;
  const auto take = [&](const std::vector<std::string>& answer) {
    taken.insert(taken.end(), answer.begin(), answer.end());
  };
  second->AnswerLater(second->Receive(0), take);
  EXPECT_THAT(taken, ElementsAre());
  first->Send(1, "a");
  first->Send(1, "b");
  const auto last = second->Receive(0);
  EXPECT_THAT(second->Answer(last), Optional(ElementsAre("b")));
  EXPECT_THAT(taken, ElementsAre("a"));
  // An answer that came before somebody asked to take it.
  const auto early = second->Receive(0);
  const auto late = second->Receive(0);
  first->Send(1, "c");
  first->Send(1, "d");
  EXPECT_THAT(second->Answer(late), Optional(ElementsAre("d")));
  second->AnswerLater(early, take);
  EXPECT_THAT(taken, ElementsAre("a", "c"));
}

TEST_F(RendezvousTest, RequestsToAnEndedMemberReturnNothing) {
  const auto first = Join(0, 3);
  auto second = Join(1, 3);
  const auto third = Join(2, 3);
  const auto gather = first->Gather("a");
  const auto receive = first->Receive(1);
  second->Send(2, "last words");
  second.reset();
  EXPECT_EQ(first->Answer(gather), std::nullopt);
  EXPECT_EQ(first->ended(), 1);
  EXPECT_EQ(first->Answer(receive), std::nullopt);
  EXPECT_EQ(third->Answer(third->Gather("c")), std::nullopt) << "nobody can complete it";
  EXPECT_THAT(third->Answer(third->Receive(1)), Optional(ElementsAre("last words")));
}

TEST_F(RendezvousTest, MembersThatARequestWaitsForAreNamedOnce) {
  name_ += "-impatient";
  ASSERT_TRUE(OpenRendezvous(name_, std::chrono::milliseconds(20)));
  const auto first = Join(0, 3);
  const auto second = Join(1, 3);
  const auto third = Join(2, 3);
  std::vector<std::vector<int>> late;
  const auto gather = first->Gather("a");
  const auto end_the_wait = [&](const std::vector<int>& members) {
    late.push_back(members);
    second->Gather("b");
    third->Gather("c");
  };
  EXPECT_THAT(first->Answer(gather, end_the_wait), Optional(ElementsAre("a", "b", "c")));
  EXPECT_THAT(late, ElementsAre(ElementsAre(1, 2)));
  const auto receive = first->Receive(2);
  EXPECT_THAT(first->Answer(receive,
                            [&](const std::vector<int>& members) {
                              late.push_back(members);
                              third->Send(0, "d");
                            }),
              Optional(ElementsAre("d")));
  EXPECT_THAT(late, ElementsAre(ElementsAre(1, 2), ElementsAre(2)));
}

TEST_F(RendezvousTest, LeavingEndsWaitingRequests) {
  const auto first = Join(0, 2);
  std::thread waiting([&] { EXPECT_EQ(first->Answer(first->Gather("a")), std::nullopt); });
  first->Leave();
  waiting.join();
  EXPECT_EQ(first->ended(), -1);
}

TEST_F(RendezvousTest, UnknownNameIsNotFound) {
  EXPECT_EQ(RendezvousMember::Join("memtrace-test-nobody", 0, 2), nullptr);
  EXPECT_FALSE(OpenRendezvous(name_)) << "one of that name is open";
}

}  // namespace
}  // namespace memtrace::card
