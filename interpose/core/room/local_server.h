// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_LOCAL_SERVER_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_LOCAL_SERVER_H_

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "allocator/card/unique_descriptor.h"
#include "base/mutex.h"

namespace memtrace {

// Answers other processes of the same user. One thread serves all sockets and never ends. A
// connection carries one request: a client that sends none within 2 s is dropped, and so is one
// that does not take its answer within 1 s. So a silent or stopped client stops nobody else. In the
// child of a fork all sockets are closed, so that clients of the parent see its end.
//
// Thread rule: any thread.
class LocalServer {
 public:
  // Reads the request, which has arrived on `connection`, and answers it. Called on the server's
  // thread.
  using Serve = std::function<void(int connection)>;
  using Again = std::function<bool()>;

  // Returns the server of the process, never destroyed.
  static LocalServer& Get();

  // Listens under `name` from now on. The first call starts the thread. Errors: those of
  // ListenUnder.
  absl::Status Listen(const std::string& name, Serve serve);

  // Calls `again` about every millisecond until it returns false. Only a Serve may call this.
  void CallUntilFalse(Again again) { again_.push_back(std::move(again)); }

  // Closes everything. The only thread of a forked child calls this before anything else runs
  // there.
  void BeginAnewInForkedChild();

 private:
  using Clock = std::chrono::steady_clock;
  struct Listener {
    UniqueDescriptor socket;
    Serve serve;
  };
  struct Connection {
    UniqueDescriptor socket;
    const Listener* listener = nullptr;
    Clock::time_point until;
  };

  LocalServer() { ForgetSockets(); }
  void StartThread() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();
  std::vector<const Listener*> Listeners();
  void WaitForAny(const std::vector<const Listener*>& listeners, std::vector<bool>& is_ready);
  void Accept(const Listener& listener);
  void ServeReady(const std::vector<bool>& is_ready, size_t first);
  bool Remember(int socket);
  void Close(UniqueDescriptor socket);
  void ForgetSockets();

  Mutex mutex_;
  bool is_running_ ABSL_GUARDED_BY(mutex_) = false;
  std::list<Listener> listeners_ ABSL_GUARDED_BY(mutex_);  // never removed, except in a child
  std::atomic<int> wake_ = -1;                             // written to by Listen

  // Only the server's thread uses these.
  std::vector<Connection> connections_;
  std::vector<Again> again_;

  // The open sockets, for a child of a fork, which may look at nothing else.
  static constexpr size_t kMostSockets = 128;
  std::array<std::atomic<int>, kMostSockets> sockets_{};
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_LOCAL_SERVER_H_
