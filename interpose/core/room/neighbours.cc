// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/neighbours.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "allocator/card/unique_descriptor.h"
#include "interpose/core/room/local_socket.h"

namespace memtrace {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::seconds kSilence{10};

// One exchange with a neighbour. The socket is -1 once it has ended.
struct Conversation {
  std::string name;
  UniqueDescriptor socket;
  bool is_answered = false;
  RoomAnswer answer;
};

Conversation Begin(const std::string& name, const RoomRequest& request) {
  Conversation begun{.name = name, .socket = {}, .answer = {}};
  auto socket = ConnectTo(name, /*is_waiting=*/false);
  if (!socket.ok() || !PeerOf(socket->get()).is_same_user) return begun;
  const bool is_sent = send(socket->get(), &request, sizeof(request), MSG_NOSIGNAL) ==
                       static_cast<ssize_t>(sizeof(request));
  if (is_sent) begun.socket = *std::move(socket);
  return begun;
}

// Returns false after the time is up; true after an answer, or a signal, which may come at any
// time.
bool WaitForAnswers(std::vector<Conversation>& all, milliseconds left) {
  std::vector<pollfd> sockets;
  sockets.reserve(all.size());
  for (const Conversation& one : all)
    sockets.push_back({.fd = one.socket.get(), .events = POLLIN, .revents = 0});
  const int ready = poll(sockets.data(), sockets.size(), static_cast<int>(left.count()));
  if (ready <= 0) return ready < 0 && errno == EINTR;
  for (size_t i = 0; i < all.size(); ++i) {
    if (sockets[i].revents == 0) continue;
    RoomAnswer& answer = all[i].answer;
    const ssize_t size = recv(all[i].socket.get(), &answer, sizeof(answer), MSG_DONTWAIT);
    all[i].is_answered = size == static_cast<ssize_t>(sizeof(answer)) && answer.is_valid();
    all[i].socket = UniqueDescriptor();
  }
  return true;
}

}  // namespace

Neighbours::Returned Neighbours::Ask(const CardName& card, const std::vector<std::string>& names,
                                     Bytes bytes) {
  const auto until = Clock::now() + limit_;
  const auto left = [&] {
    return std::max<int64_t>(
        0, std::chrono::duration_cast<milliseconds>(until - Clock::now()).count());
  };
  RoomRequest offer;
  offer.card = card.uuid;
  std::vector<std::pair<std::string, RoomRequest>> requests;
  requests.reserve(names.size());
  for (const std::string& name : names) requests.emplace_back(name, offer);
  std::vector<Answered> offers = Exchange(requests, until);
  std::sort(offers.begin(), offers.end(),
            [](const Answered& a, const Answered& b) { return a.answer.cached > b.answer.cached; });
  Returned returned;
  Bytes lacking = bytes;
  // All that are needed are asked at once; if they have less than they offered, the next ones.
  for (auto next = offers.begin(); next != offers.end() && lacking > 0 && left() > 0;) {
    requests.clear();
    Bytes hoped = 0;
    for (; next != offers.end() && hoped < lacking && next->answer.cached > 0; ++next) {
      RoomRequest request = offer;
      request.bytes = std::min<Bytes>(lacking - hoped, next->answer.cached);
      request.limit_ms = static_cast<uint32_t>(left() * 3 / 4);  // the rest is for the answer
      hoped += request.bytes;
      requests.emplace_back(next->name, request);
    }
    if (requests.empty()) break;
    for (const Answered& given : Exchange(requests, until)) {
      const Bytes now = std::min<Bytes>(lacking, given.answer.returned);
      const Bytes later = std::min<Bytes>(lacking - now, given.answer.pending);
      returned.now += now;
      returned.pending += later;
      lacking -= now + later;
    }
  }
  return returned;
}

std::vector<std::string> Neighbours::Names(const CardName& card, const std::string& own) {
  std::vector<std::string> names = card.Listeners();
  const auto now = Clock::now();
  const MutexLock lock(mutex_);
  absl::erase_if(silent_, [&](const auto& entry) { return entry.second < now; });
  std::erase_if(names, [&](const std::string& name) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return name == own || silent_.contains(name);
  });
  return names;
}

std::vector<Neighbours::Answered> Neighbours::Exchange(
    const std::vector<std::pair<std::string, RoomRequest>>& requests, Clock::time_point until) {
  std::vector<Conversation> all;
  all.reserve(requests.size());
  for (const auto& [name, request] : requests) all.push_back(Begin(name, request));
  const auto is_open = [](const Conversation& one) { return one.socket.get() >= 0; };
  while (std::any_of(all.begin(), all.end(), is_open)) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (left.count() < 0 || !WaitForAnswers(all, left)) break;
  }
  std::vector<Answered> answers;
  for (Conversation& one : all) {
    if (is_open(one)) NoteSilent(one.name);
    if (one.is_answered) answers.push_back({std::move(one.name), one.answer});
  }
  return answers;
}

void Neighbours::NoteSilent(const std::string& name) {
  const MutexLock lock(mutex_);
  silent_[name] = Clock::now() + kSilence;
}

}  // namespace memtrace
