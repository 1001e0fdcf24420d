// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_NEIGHBOURS_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_NEIGHBOURS_H_

#include <chrono>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/mutex.h"
#include "base/units.h"
#include "interpose/core/room/card_name.h"
#include "interpose/core/room/room_protocol.h"

namespace memtrace {

// Asks the other processes of this user to return memory of a card that they have free. First all
// are asked for an offer at once, then those with the most for what is lacking. One that does not
// answer within the limit, because it is stopped, is not asked again for 10 s.
//
// Thread rule: any thread. No lock of an allocator may be held: two processes may ask each other.
class Neighbours {
 public:
  // `limit` bounds all answers together.
  explicit Neighbours(std::chrono::milliseconds limit) : limit_(limit) {}

  struct Returned {
    Bytes now = 0;
    Bytes pending = 0;  // comes when the neighbours' work that uses it is done, at most 2 s later
  };
  // Returns the names of those that can be asked now. `own` is the name of this process, "" if it
  // does not listen.
  std::vector<std::string> Names(const CardName& card, const std::string& own);
  Returned Ask(const CardName& card, const std::vector<std::string>& names, Bytes bytes);

 private:
  using Clock = std::chrono::steady_clock;
  struct Answered {
    std::string name;
    RoomAnswer answer;
  };

  std::vector<Answered> Exchange(const std::vector<std::pair<std::string, RoomRequest>>& requests,
                                 Clock::time_point until);
  void NoteSilent(const std::string& name);

  const std::chrono::milliseconds limit_;
  Mutex mutex_;
  absl::flat_hash_map<std::string, Clock::time_point> silent_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_NEIGHBOURS_H_
