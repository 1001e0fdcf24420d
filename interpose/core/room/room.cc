// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/core/room/room.h"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "allocator/blocks/size_policy.h"
#include "base/environment.h"
#include "interpose/core/room/local_server.h"
#include "interpose/core/room/local_socket.h"
#include "interpose/core/room/room_protocol.h"

namespace memtrace {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kUsualLimit{100};
constexpr Bytes kStep = 32_MiB;  // as GiveWay's
constexpr milliseconds kPause{1};

// Returns 0 if neighbours are switched off.
milliseconds LimitOfAnswers() {
  int64_t limit = kUsualLimit.count();
  if (!absl::SimpleAtoi(std::string(env::Text(env::kNeighbours)), &limit))
    limit = kUsualLimit.count();
  return milliseconds(std::clamp<int64_t>(limit, 0, 60'000));
}

}  // namespace

Room::Room(ProcessCards& cards, Tell tell)
    : cards_(cards),
      tell_(std::move(tell)),
      has_neighbours_(LimitOfAnswers().count() > 0),
      neighbours_(LimitOfAnswers()) {}

Bytes Room::FromOwnCache(const Request& request) {
  CachingAllocator* allocator = cards_.allocator(request.device);
  if (allocator == nullptr) return 0;
  const auto begin = Clock::now();
  const Bytes bytes = allocator->movement()
                          .give_way()
                          .Give({.bytes = request.bytes, .stream = request.stream})
                          .returned;
  if (bytes > 0) {
    tell_({.device = request.device,
           .bytes = bytes,
           .duration = Clock::now() - begin,
           .caller = request.caller});
  }
  return bytes;
}

// Answers one neighbour, on the server's thread.
void Room::Answer(int connection, int device, const CardUuid& card) {
  RoomRequest request;
  if (recv(connection, &request, sizeof(request), 0) != static_cast<ssize_t>(sizeof(request)))
    return;
  if (!request.is_valid() || request.card != card) return;
  GiveWay& give_way = cards_.allocator(device)->movement().give_way();
  RoomAnswer answer;
  GiveWay::Given given;
  const auto begin = Clock::now();
  if (request.bytes > 0) {
    const auto limit = std::min(milliseconds(request.limit_ms), GiveWay::kLongest);
    given = give_way.Give({.bytes = request.bytes,
                           .is_shortfall = true,
                           .is_for_neighbour = true,
                           .limit = limit,
                           .continues = true});
  }
  answer.returned = given.returned;
  answer.pending = given.pending;
  answer.cached = give_way.Offer();
  send(connection, &answer, sizeof(answer), MSG_NOSIGNAL);
  const int process = PeerOf(connection).process;
  TellOfGift(device, given.returned, Clock::now() - begin, process);
  if (given.pending == 0) return;
  LocalServer::Get().CallUntilFalse([this, &give_way, device, process, begin] {
    const Bytes before = give_way.counts().to_neighbours;
    const bool goes_on = give_way.Continue();
    TellOfGift(device, give_way.counts().to_neighbours - before, Clock::now() - begin, process);
    return goes_on;
  });
}

void Room::TellOfGift(int device, Bytes bytes, std::chrono::nanoseconds duration,
                      int process) const {
  if (bytes == 0) return;
  tell_({.device = device,
         .bytes = bytes,
         .duration = duration,
         .process = process,
         .caller = nullptr});
}

Bytes Room::FromNeighbours(int device, Bytes bytes) {
  const auto card = CardOf(device);
  if (!card.has_value()) return 0;
  const std::vector<std::string> names = neighbours_.Names(card->name, card->own);
  const Bytes lacking = names.empty() ? 0 : Lacking(device, bytes);
  if (lacking == 0) return 0;
  const Neighbours::Returned returned = neighbours_.Ask(card->name, names, lacking);
  if (returned.now >= lacking || returned.pending == 0) return returned.now;
  const bool is_enough = returned.now + returned.pending >= lacking;
  return is_enough && WaitForPending(device, bytes) ? lacking : returned.now;
}

bool Room::HasNeighbours(int device) { return CardOf(device).has_value(); }

// If the thread cannot be started, or the socket cannot be made, this process only does not answer.
void Room::AnswerNeighbours(int device) {
  const auto card = CardOf(device);
  if (cards_.allocator(device) == nullptr || !card.has_value()) return;
  const std::string name = card->name.NameOfProcess();
  {
    const MutexLock lock(mutex_);
    if (!by_device_[device]->own.empty()) return;
    by_device_[device]->own = name;
  }
  const CardUuid uuid = card->name.uuid;
  const auto answer = [this, device, uuid](int connection) { Answer(connection, device, uuid); };
  try {
    LocalServer::Get().Listen(name, answer).IgnoreError();
  } catch (const std::exception&) {
    return;
  }
}

// Returns nothing if the card has no other users. In mode OBSERVE nobody is asked, because torch's
// own allocator first frees its cache when it is refused, and tries again.
std::optional<Room::Card> Room::CardOf(int device) {
  if (!has_neighbours_ || cards_.is_forked() || device < 0) return std::nullopt;
  const auto index = static_cast<size_t>(device);
  if (index >= cards_.all().size() || cards_.observed(device) != nullptr) return std::nullopt;
  const MutexLock lock(mutex_);
  const auto found = by_device_.find(device);
  if (found != by_device_.end()) return found->second;
  std::optional<Card> card;
  if (const auto name = NameOf(DeviceIndex{device}, cards_.all()[index].reader->simulated()))
    card = Card{.name = *name, .own = ""};
  by_device_[device] = card;
  return card;
}

// Returns 0 if the request cannot succeed.
Bytes Room::Lacking(int device, Bytes bytes) const {
  const auto card = cards_.all()[static_cast<size_t>(device)].driver.vmm->MemoryInfo();
  if (!card.ok() || bytes > card->total) return 0;
  const Bytes whole = RoundUp(bytes, kStep) + kStep;
  return whole > card->free ? whole - card->free : bytes;
}

// Returns true once the card has room for the request.
bool Room::WaitForPending(int device, Bytes bytes) const {
  const auto until = Clock::now() + GiveWay::kLongest;
  while (Clock::now() < until) {
    const auto card = cards_.all()[static_cast<size_t>(device)].driver.vmm->MemoryInfo();
    if (!card.ok()) return false;
    if (card->free >= RoundUp(bytes, kStep)) return true;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

// The map may have been changed by another thread of the parent, so it is left as it is.
void Room::BeginAnewInForkedChild() {
  LocalServer::Get().BeginAnewInForkedChild();
  has_neighbours_ = false;
  new (&mutex_) Mutex;
}

}  // namespace memtrace
