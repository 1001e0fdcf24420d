// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/heap/give_way.h"

#include <algorithm>
#include <thread>

#include "allocator/blocks/size_policy.h"

namespace memtrace {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds kLockLimit{100};
// A driver's own pool grows in such steps, and a library with many buffers should not fail at each.
constexpr Bytes kStep = 32_MiB;
// A simulated card with lazy events answers this many questions before it takes them for a wait.
constexpr int kQuestionsAtOnce = 1100;
constexpr microseconds kPauseBetweenQuestions{50};

}  // namespace

// Another thread may hold the lock in a pool's own source and wait there for a lock of the library
// that asks here, so it is not waited for without a limit. Returns false if it was not taken.
template <typename Act>
bool GiveWay::UnderLock(Act act) {
  if (!lock_.TryLockFor(kLockLimit)) return false;
  act();
  lock_.Unlock();
  return true;
}

GiveWay::Given GiveWay::Give(const Demand& demand) {
  Ticket ticket{};
  bool is_started = false;
  const auto until = Clock::now() + demand.limit;
  UnderLock([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS { is_started = Start(demand, ticket); });
  if (!is_started) return {};
  const Given given = PollUntilDone(ticket, until);
  if (!demand.continues) {
    UnderLock([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      heap_.leaving().Keep(ticket);
      std::erase_if(leaving_, [&](const Leaving& one) { return one.ticket == ticket; });
    });
  }
  return given;
}

// Returns false if nothing can be given.
bool GiveWay::Start(const Demand& demand, Ticket& ticket) {
  KeepExpired();
  if (heap_.accounting().mapping().reserved() == 0 || events_.IsCapturing(demand.stream))
    return false;
  const Bytes wanted = demand.is_shortfall ? demand.bytes : Lacking(demand.bytes);
  if (wanted == 0) return false;
  heap_.waiting().CompleteFinished();
  heap_.groups().MergeRecent();
  ticket = heap_.leaving().Start(wanted);
  leaving_.push_back({.ticket = ticket,
                      .until = Clock::now() + kLongest,
                      .is_for_neighbour = demand.is_for_neighbour});
  return true;
}

// Returns 0 if the request cannot succeed.
Bytes GiveWay::Lacking(Bytes bytes) {
  const absl::StatusOr<DeviceMemory> card = heap_.room().QueryDriver();
  if (!card.ok() || bytes > card->total) return 0;
  const Bytes whole = RoundUp(bytes, kStep);
  return card->free >= whole ? SegmentGroups::kEverything : whole - card->free + kStep;
}

GiveWay::Given GiveWay::PollUntilDone(Ticket ticket, Clock::time_point until) {
  Given given;
  for (int questions = 1;; ++questions) {
    UnderLock([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      given = {};  // nothing is left of it if a request of the heap's own needed the memory
      for (Leaving& one : leaving_) {
        if (one.ticket != ticket) continue;
        Poll(one);
        given = {one.returned, heap_.leaving().pending(ticket)};
      }
    });
    if (given.pending == 0 || Clock::now() >= until) return given;
    if (questions >= kQuestionsAtOnce) std::this_thread::sleep_for(kPauseBetweenQuestions);
  }
}

void GiveWay::Poll(Leaving& leaving) {
  const Bytes bytes = heap_.leaving().UnmapDone(leaving.ticket);
  if (bytes == 0) return;
  heap_.room().GaveAway(bytes);
  if (leaving.returned == 0) ++counts_.times;
  leaving.returned += bytes;
  (leaving.is_for_neighbour ? counts_.to_neighbours : counts_.to_libraries) += bytes;
}

void GiveWay::KeepExpired() {
  const auto now = Clock::now();
  std::erase_if(leaving_, [&](const Leaving& one) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (now < one.until) return false;
    heap_.leaving().Keep(one.ticket);
    return true;
  });
}

bool GiveWay::Continue() {
  bool goes_on = true;  // also if the lock was not taken
  UnderLock([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    KeepExpired();
    for (Leaving& one : leaving_) Poll(one);
    std::erase_if(leaving_, [&](const Leaving& one) ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return heap_.leaving().pending(one.ticket) == 0;
    });
    goes_on = !leaving_.empty();
  });
  return goes_on;
}

Bytes GiveWay::Offer() {
  Bytes bytes = 0;
  UnderLock([&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (heap_.accounting().mapping().reserved() == 0) return;
    heap_.waiting().CompleteFinished();
    heap_.groups().MergeRecent();
    bytes = heap_.leaving().Available();
  });
  return bytes;
}

GiveWay::Counts GiveWay::counts() const {
  const CardLock::Holder lock(lock_);
  return counts_;
}

}  // namespace memtrace
