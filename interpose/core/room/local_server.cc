// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/local_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <new>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "interpose/core/room/local_socket.h"

namespace memtrace {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRequestLimit{2000};
constexpr milliseconds kAnswerLimit{1000};
constexpr size_t kMostConnections = 64;
constexpr int kNone = -1;

pollfd ToRead(int socket) { return {.fd = socket, .events = POLLIN, .revents = 0}; }

}  // namespace

LocalServer& LocalServer::Get() {
  static auto* server = new LocalServer;
  return *server;
}

absl::Status LocalServer::Listen(const std::string& name, Serve serve) {
  MEMTRACE_ASSIGN_OR_RETURN(auto socket, ListenUnder(name));
  const MutexLock lock(mutex_);
  if (!Remember(socket.get())) return absl::UnavailableError("too many sockets");
  listeners_.push_back({std::move(socket), std::move(serve)});
  if (!is_running_) StartThread();
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_, &one, sizeof(one));
  return absl::OkStatus();
}

// All signals are blocked in the thread, so that the program's own threads handle them.
void LocalServer::StartThread() {
  wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  Remember(wake_);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { Run(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  is_running_ = true;
}

void LocalServer::Run() {
  while (true) {
    const std::vector<const Listener*> listeners = Listeners();
    std::vector<bool> is_ready;
    WaitForAny(listeners, is_ready);
    ServeReady(is_ready, listeners.size());
    for (size_t i = 0; i < listeners.size(); ++i) {
      if (is_ready[i]) Accept(*listeners[i]);
    }
    std::erase_if(again_, [](const Again& again) { return !again(); });
  }
}

std::vector<const LocalServer::Listener*> LocalServer::Listeners() {
  const MutexLock lock(mutex_);
  std::vector<const Listener*> all;
  all.reserve(listeners_.size());
  for (const Listener& listener : listeners_) all.push_back(&listener);
  return all;
}

// Sets an element for each listener, then for each connection: true if it has something to read.
void LocalServer::WaitForAny(const std::vector<const Listener*>& listeners,
                             std::vector<bool>& is_ready) {
  std::vector<pollfd> all;
  all.reserve(listeners.size() + connections_.size() + 1);
  for (const Listener* listener : listeners) all.push_back(ToRead(listener->socket.get()));
  for (const Connection& connection : connections_) all.push_back(ToRead(connection.socket.get()));
  all.push_back(ToRead(wake_));
  const int limit = !again_.empty() ? 1 : !connections_.empty() ? 100 : kNone;
  const int found = poll(all.data(), all.size(), limit);
  uint64_t ignored = 0;
  if (all.back().revents != 0) [[maybe_unused]]
    const ssize_t got = read(wake_, &ignored, sizeof(ignored));
  all.pop_back();
  for (const pollfd& one : all) is_ready.push_back(found > 0 && one.revents != 0);
}

void LocalServer::Accept(const Listener& listener) {
  UniqueDescriptor socket(accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.get() < 0) {
    // Waits until some descriptors are closed.
    if (errno == EMFILE || errno == ENFILE) std::this_thread::sleep_for(milliseconds(10));
    return;
  }
  const bool is_welcome = connections_.size() < kMostConnections &&
                          PeerOf(socket.get()).is_same_user && Remember(socket.get());
  if (!is_welcome) return;
  LimitSends(socket.get(), kAnswerLimit);
  connections_.push_back({std::move(socket), &listener, Clock::now() + kRequestLimit});
}

// `first` is the place of the first connection in `is_ready`.
void LocalServer::ServeReady(const std::vector<bool>& is_ready, size_t first) {
  std::vector<Connection> waiting;
  for (size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = connections_[i];
    if (is_ready[first + i]) connection.listener->serve(connection.socket.get());
    if (is_ready[first + i] || Clock::now() >= connection.until) {
      Close(std::move(connection.socket));
    } else {
      waiting.push_back(std::move(connection));
    }
  }
  connections_ = std::move(waiting);
}

// Returns false if there is no place left.
bool LocalServer::Remember(int socket) {
  return std::any_of(sockets_.begin(), sockets_.end(), [&](std::atomic<int>& place) {
    int none = kNone;
    return place.compare_exchange_strong(none, socket);
  });
}

// Forgets the socket before it is closed, because its number may be used again at once.
void LocalServer::Close(UniqueDescriptor socket) {
  for (std::atomic<int>& place : sockets_) {
    int same = socket.get();
    if (place.compare_exchange_strong(same, kNone)) return;
  }
}

void LocalServer::ForgetSockets() {
  for (std::atomic<int>& place : sockets_) place = kNone;
}

// Nothing is destroyed, because the thread may have been changing it. The parent's objects leak.
void LocalServer::BeginAnewInForkedChild() {
  for (std::atomic<int>& place : sockets_) {
    if (place >= 0) close(place);
  }
  new (this) LocalServer;
}

}  // namespace memtrace
