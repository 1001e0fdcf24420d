// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_ROOM_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_ROOM_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/base/attributes.h"
#include "base/mutex.h"
#include "base/units.h"
#include "interpose/core/cards/process_cards.h"
#include "interpose/core/room/card_name.h"
#include "interpose/core/room/neighbours.h"

namespace memtrace {

// Makes room on a card for a request that the driver has refused: first our own allocator's free
// memory goes (GiveWay), then other processes of this user are asked for theirs. A process of our
// allocator answers them from its first use of a card on.
//
// MEMTRACE_NEIGHBOURS=0 switches both sides of the second off; another number is the longest time
// in milliseconds that is waited for answers (100).
//
// Thread rule: any thread; no lock of an allocator may be held.
class Room {
 public:
  // Memory that our allocator has returned.
  struct Given {
    int device = 0;
    Bytes bytes = 0;
    std::chrono::nanoseconds duration{};
    int process = 0;               // that asked for it; 0: this one
    const void* caller = nullptr;  // in this process
  };
  using Tell = std::function<void(const Given&)>;

  // `tell` is called with each gift, on any thread, with no lock held. `cards` must outlive this.
  Room(ProcessCards& cards ABSL_ATTRIBUTE_LIFETIME_BOUND, Tell tell);

  // A request of this process, and the return address of its caller.
  struct Request {
    int device = 0;
    Bytes bytes = 0;
    StreamId stream{};
    const void* caller = nullptr;
  };
  // Returns the bytes that our allocator has returned for the request.
  Bytes FromOwnCache(const Request& request);

  // Returns the bytes that other processes have returned.
  Bytes FromNeighbours(int device, Bytes bytes);
  // True if other processes may be asked for memory of the card.
  bool HasNeighbours(int device);

  // Answers other processes that ask for memory of the card, from now on.
  void AnswerNeighbours(int device);

  // The only thread of a forked child calls this: it neither asks nor answers.
  void BeginAnewInForkedChild();

 private:
  struct Card {
    CardName name;
    std::string own;  // the name under which this process listens; "" if it does not
  };

  std::optional<Card> CardOf(int device);
  Bytes Lacking(int device, Bytes bytes) const;
  bool WaitForPending(int device, Bytes bytes) const;
  void Answer(int connection, int device, const CardUuid& card);
  void TellOfGift(int device, Bytes bytes, std::chrono::nanoseconds duration, int process) const;

  ProcessCards& cards_;
  const Tell tell_;
  std::atomic<bool> has_neighbours_;
  Neighbours neighbours_;
  Mutex mutex_;
  std::map<int, std::optional<Card>> by_device_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_ROOM_H_
