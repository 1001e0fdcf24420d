// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/local_server.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <string>

#include "interpose/core/room/local_socket.h"

namespace memtrace {
namespace {

constexpr int kPatience = 10'000;  // milliseconds

std::string NewName() {
  static int number = 0;
  return "memtrace-test." + std::to_string(getpid()) + "." + std::to_string(++number);
}

// Sends back what it receives.
void Echo(int connection) {
  std::array<char, 64> text{};
  const ssize_t size = recv(connection, text.data(), text.size(), 0);
  if (size > 0) send(connection, text.data(), static_cast<size_t>(size), MSG_NOSIGNAL);
}

void SayTwo(int connection) {
  std::array<char, 64> text{};
  EXPECT_GT(recv(connection, text.data(), text.size(), 0), 0);
  send(connection, "two", 3, MSG_NOSIGNAL);
}

// Returns "" if the server ends the connection.
std::string Ask(const UniqueDescriptor& connection, const std::string& text) {
  EXPECT_EQ(send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
  pollfd answered{.fd = connection.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(poll(&answered, 1, kPatience), 1);
  std::array<char, 64> answer{};
  const ssize_t size = recv(connection.get(), answer.data(), answer.size(), 0);
  return size > 0 ? std::string(answer.data(), static_cast<size_t>(size)) : "";
}

TEST(LocalServerTest, SeveralNamesAreServed) {
  const std::string first = NewName();
  const std::string second = NewName();
  ASSERT_TRUE(LocalServer::Get().Listen(first, Echo).ok());
  ASSERT_TRUE(LocalServer::Get().Listen(second, SayTwo).ok());
  EXPECT_EQ(Ask(*ConnectTo(first), "hello"), "hello");
  EXPECT_EQ(Ask(*ConnectTo(second), "hello"), "two");
}

TEST(LocalServerTest, SilentClientsStopNobody) {
  const std::string name = NewName();
  ASSERT_TRUE(LocalServer::Get().Listen(name, Echo).ok());
  const auto silent = ConnectTo(name);
  const auto also_silent = ConnectTo(name);
  EXPECT_EQ(Ask(*ConnectTo(name), "hello"), "hello");
  EXPECT_EQ(Ask(*silent, "late"), "late");
}

TEST(LocalServerTest, ClientThatEndsIsForgotten) {
  const std::string name = NewName();
  ASSERT_TRUE(LocalServer::Get().Listen(name, Echo).ok());
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(ConnectTo(name).ok());
  EXPECT_EQ(Ask(*ConnectTo(name), "hello"), "hello");
}

TEST(LocalServerTest, NameOfAnotherListenerIsRefused) {
  const std::string name = NewName();
  ASSERT_TRUE(LocalServer::Get().Listen(name, Echo).ok());
  EXPECT_TRUE(absl::IsUnavailable(LocalServer::Get().Listen(name, Echo)));
}

TEST(LocalServerTest, WorkIsContinuedUntilItSaysFalse) {
  const std::string name = NewName();
  static std::atomic<int> calls = 0;
  ASSERT_TRUE(LocalServer::Get()
                  .Listen(name,
                          [](int connection) {
                            LocalServer::Get().CallUntilFalse([] { return ++calls < 3; });
                            Echo(connection);
                          })
                  .ok());
  EXPECT_EQ(Ask(*ConnectTo(name), "hello"), "hello");
  while (calls < 3) usleep(1000);
  EXPECT_EQ(Ask(*ConnectTo(name), "again"), "again");
}

// Forks a process that listens and is forked itself. Returns true if nobody can connect any more
// after the listening one has ended, although its child lives on.
bool EndsWithTheListener(bool begins_anew) {
  const std::string name = NewName();
  std::array<int, 2> ready{};
  EXPECT_EQ(pipe(ready.data()), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    const bool is_listening = LocalServer::Get().Listen(name, Echo).ok();
    const pid_t child = is_listening ? fork() : -1;
    if (child == 0) {
      if (begins_anew) LocalServer::Get().BeginAnewInForkedChild();
      const pid_t self = getpid();
      [[maybe_unused]] const ssize_t written = write(ready[1], &self, sizeof(self));
      pause();
    }
    pause();
  }
  pid_t child = -1;
  EXPECT_EQ(read(ready[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
  EXPECT_TRUE(ConnectTo(name).ok());
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  const bool has_ended = !ConnectTo(name).ok();
  kill(child, SIGKILL);
  close(ready[0]);
  close(ready[1]);
  return has_ended;
}

TEST(LocalServerTest, ForkedChildHoldsNoSocket) {
  EXPECT_TRUE(EndsWithTheListener(/*begins_anew=*/true));
  EXPECT_FALSE(EndsWithTheListener(/*begins_anew=*/false));  // the test can fail
}

TEST(LocalServerTest, ForkedChildCanServeItself) {
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the thread sanitizer ends children that start threads";
#endif
#endif
  const std::string name = NewName();
  ASSERT_TRUE(LocalServer::Get().Listen(name, Echo).ok());
  const std::string of_child = NewName();
  const pid_t child = fork();
  if (child == 0) {
    LocalServer::Get().BeginAnewInForkedChild();
    const bool is_listening = LocalServer::Get().Listen(of_child, Echo).ok();
    _exit(is_listening && Ask(*ConnectTo(of_child), "hello") == "hello" ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Ask(*ConnectTo(name), "hello"), "hello");
}

TEST(LocalServerTest, OtherUsersAreNotServed) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string name = NewName();
  ASSERT_TRUE(LocalServer::Get().Listen(name, Echo).ok());
  const pid_t child = fork();
  if (child == 0) {
    const bool is_other = setuid(65534) == 0;
    const auto connection = ConnectTo(name);
    std::array<char, 8> answer{};
    send(connection->get(), "hello", 5, MSG_NOSIGNAL);
    const bool is_answered = recv(connection->get(), answer.data(), answer.size(), 0) > 0;
    _exit(is_other && !is_answered ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace memtrace
