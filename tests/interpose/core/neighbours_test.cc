// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/neighbours.h"

#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "interpose/core/room/local_server.h"
#include "interpose/core/room/local_socket.h"

namespace memtrace {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr milliseconds kPatient{20'000};
constexpr milliseconds kShort{30};

TEST(CardNameTest, ListenersAreReadFromTheListOfSockets) {
  const std::string text =
      "Num       RefCount Protocol Flags    Type St Inode Path\n"
      "0000000000000000: 00000002 00000000 00010000 0005 01 11 @memtrace-room.0.ab.17.f\n"
      "0000000000000000: 00000003 00000000 00000000 0005 03 12 @memtrace-room.0.ab.17.f\n"
      "0000000000000000: 00000002 00000000 00010000 0005 01 13 @memtrace-room.0.ab.9.1\n"
      "0000000000000000: 00000002 00000000 00010000 0005 01 14 @memtrace-room.0.abc.9.2\n"
      "0000000000000000: 00000002 00000000 00010000 0001 01 15 /run/memtrace-room.0.ab.9.3\n"
      "0000000000000000: 00000003 00000000 00000000 0005 03 16\n";
  EXPECT_THAT(NamesIn(text, "memtrace-room.0.ab."),
              ElementsAre("memtrace-room.0.ab.17.f", "memtrace-room.0.ab.9.1"));
  EXPECT_THAT(NamesIn("", "memtrace-room."), IsEmpty());
}

// Neighbours that answer as the test wants, on this process's own server.
class NeighboursTest : public testing::Test {
 protected:
  NeighboursTest() {
    static int number = 0;
    card_.uuid.fill(7);
    card_.prefix =
        "memtrace-test." + std::to_string(getpid()) + "-" + std::to_string(++number) + ".";
  }
  // Makes a neighbour that returns at most `cached` bytes. Returns its name.
  std::string Add(Bytes cached, Bytes pending = 0) {
    const std::string name = card_.NameOfProcess();
    EXPECT_TRUE(
        LocalServer::Get()
            .Listen(name, [this, name, cached,
                           pending](int connection) { Answer(connection, name, cached, pending); })
            .ok());
    return name;
  }
  void Answer(int connection, const std::string& name, Bytes cached, Bytes pending) {
    RoomRequest request;
    EXPECT_EQ(recv(connection, &request, sizeof(request), 0),
              static_cast<ssize_t>(sizeof(request)));
    EXPECT_TRUE(request.is_valid());
    EXPECT_EQ(request.card, card_.uuid);
    for (int i = 0; signalled_ && i < 20; ++i) {
      pthread_kill(*signalled_, SIGUSR1);
      usleep(1000);
    }
    RoomAnswer answer;
    answer.cached = cached;
    if (request.bytes > 0) {
      asked_[name] = request.bytes;
      answer.returned = std::min<Bytes>(request.bytes, cached) - pending;
      answer.pending = pending;
    }
    send(connection, &answer, sizeof(answer), MSG_NOSIGNAL);
  }
  // Makes a neighbour that answers `text` to everything.
  std::string AddAnswering(const std::string& text) { return AddAnsweringOneOf({text}); }
  // Makes a neighbour that answers one text after another.
  std::string AddAnsweringOneOf(std::vector<std::string> texts) {
    const std::string name = card_.NameOfProcess();
    EXPECT_TRUE(LocalServer::Get()
                    .Listen(name,
                            [texts = std::move(texts), next = size_t{0}](int connection) mutable {
                              RoomRequest ignored;
                              recv(connection, &ignored, sizeof(ignored), 0);
                              const std::string& text = texts[next++ % texts.size()];
                              send(connection, text.data(), text.size(), MSG_NOSIGNAL);
                            })
                    .ok());
    return name;
  }
  Neighbours::Returned Ask(Neighbours& neighbours, Bytes bytes) {
    return neighbours.Ask(card_, neighbours.Names(card_, own_), bytes);
  }

  CardName card_;
  std::string own_;
  std::map<std::string, Bytes> asked_;
  std::optional<pthread_t> signalled_;  // while a neighbour thinks about its answer
};

TEST_F(NeighboursTest, ThoseWithTheMostGiveWhatIsLacking) {
  Neighbours neighbours(kPatient);
  Add(10_MiB);
  const std::string largest = Add(100_MiB);
  const std::string second = Add(50_MiB);
  EXPECT_EQ(Ask(neighbours, 120_MiB).now, 120_MiB);
  EXPECT_THAT(asked_, UnorderedElementsAre(std::pair(largest, 100_MiB), std::pair(second, 20_MiB)));
}

TEST_F(NeighboursTest, AllGiveIfTheyHaveTooLittle) {
  Neighbours neighbours(kPatient);
  Add(10_MiB);
  Add(20_MiB);
  Add(0);
  EXPECT_EQ(Ask(neighbours, 120_MiB).now, 30_MiB);
  EXPECT_EQ(asked_.size(), 2u);
}

TEST_F(NeighboursTest, MemoryThatWorkStillUsesIsPending) {
  Neighbours neighbours(kPatient);
  Add(100_MiB, /*pending=*/30_MiB);
  const auto returned = Ask(neighbours, 80_MiB);
  EXPECT_EQ(returned.now, 50_MiB);
  EXPECT_EQ(returned.pending, 30_MiB);
}

TEST_F(NeighboursTest, SignalsDoNotEndTheWait) {
  struct sigaction ignore {};
  ignore.sa_handler = [](int) {};
  struct sigaction before {};
  ASSERT_EQ(sigaction(SIGUSR1, &ignore, &before), 0);
  Neighbours neighbours(kPatient);
  Add(100_MiB);
  signalled_ = pthread_self();
  EXPECT_EQ(Ask(neighbours, 50_MiB).now, 50_MiB);
  EXPECT_THAT(neighbours.Names(card_, own_), testing::SizeIs(1)) << "it is asked again";
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(NeighboursTest, OwnNameIsNotAsked) {
  Neighbours neighbours(kPatient);
  own_ = Add(100_MiB);
  EXPECT_THAT(neighbours.Names(card_, own_), IsEmpty());
}

TEST_F(NeighboursTest, WrongAnswersAreIgnored) {
  Neighbours neighbours(kPatient);
  AddAnswering("x");
  AddAnswering(std::string(sizeof(RoomAnswer), 'x'));
  AddAnswering(std::string(4000, '\0'));
  Add(10_MiB);
  EXPECT_EQ(Ask(neighbours, 10_MiB).now, 10_MiB);
}

TEST_F(NeighboursTest, OneThatAnswersMoreThanItWasAskedForEndsTheQuestion) {
  Neighbours neighbours(kPatient);
  RoomAnswer answer;
  answer.returned = answer.cached = ~uint64_t{0};
  AddAnswering(std::string(reinterpret_cast<const char*>(&answer), sizeof(answer)));
  EXPECT_EQ(Ask(neighbours, 10_MiB).now, 10_MiB);
}

TEST_F(NeighboursTest, NoAnswersMakeItMoreThanWhatWasLacking) {
  std::mt19937_64 random(1);
  const auto number = [&random] { return random() >> (random() % 64); };  // of any length
  for (int neighbour = 0; neighbour < 3; ++neighbour) {
    std::vector<std::string> texts;
    for (int i = 0; i < 101; ++i) {
      RoomAnswer answer;
      answer.returned = number();
      answer.pending = number();
      answer.cached = number();
      texts.emplace_back(reinterpret_cast<const char*>(&answer), sizeof(answer));
      if (random() % 4 == 0) texts.back().resize(random() % (2 * sizeof(answer)), 'x');
    }
    AddAnsweringOneOf(std::move(texts));
  }
  Neighbours neighbours(kPatient);
  for (int round = 0; round < 50; ++round) {
    const Bytes lacking = 1 + number() / 2;
    const Neighbours::Returned returned = Ask(neighbours, lacking);
    EXPECT_LE(returned.now, lacking);
    EXPECT_LE(returned.pending, lacking - returned.now);
  }
}

// Its sockets accept by their backlog and nobody answers, as those of a stopped process.
TEST_F(NeighboursTest, SilentOneIsAskedOnce) {
  Neighbours neighbours(kShort);
  const std::string name = card_.NameOfProcess();
  const auto silent = ListenUnder(name);
  ASSERT_TRUE(silent.ok());
  EXPECT_EQ(Ask(neighbours, 10_MiB).now, 0);
  EXPECT_THAT(neighbours.Names(card_, own_), IsEmpty());
}

TEST_F(NeighboursTest, KilledOneIsNotWaitedFor) {
  Neighbours neighbours(kPatient);
  const std::string name = card_.NameOfProcess();
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto listener = ListenUnder(name);
    [[maybe_unused]] const ssize_t written = write(ready[1], "x", 1);
    while (true) {
      const UniqueDescriptor connection(accept(listener->get(), nullptr, nullptr));
      if (connection.get() >= 0) raise(SIGKILL);
    }
  }
  char ignored = 0;
  EXPECT_EQ(read(ready[0], &ignored, 1), 1);
  Add(10_MiB);
  EXPECT_EQ(Ask(neighbours, 10_MiB).now, 10_MiB);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(neighbours.Names(card_, own_).size(), 1u);
}

TEST_F(NeighboursTest, ListenerOfAnotherUserIsNotAsked) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  Neighbours neighbours(kPatient);
  const std::string name = card_.NameOfProcess();
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const bool is_other = setuid(65534) == 0;
    const auto listener = ListenUnder(name);
    [[maybe_unused]] const ssize_t written = write(ready[1], is_other ? "y" : "n", 1);
    pause();
  }
  char is_other = 0;
  EXPECT_EQ(read(ready[0], &is_other, 1), 1);
  EXPECT_EQ(is_other, 'y');
  EXPECT_EQ(neighbours.Names(card_, own_).size(), 1u);
  EXPECT_EQ(Ask(neighbours, 10_MiB).now, 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace memtrace
