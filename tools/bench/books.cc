// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/books.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "allocator/blocks/size_policy.h"
#include "allocator/card/call_failures.h"
#include "allocator/card/memory_streams.h"
#include "allocator/card/memory_vmm.h"
#include "allocator/heap/caching_allocator.h"
#include "base/check.h"
#include "tools/analysis/planning/request_log.h"
#include "tools/bench/recorded_requests.h"

namespace memtrace::bench {
namespace {

// A card of books and our allocator on it.
class BookedCard {
 public:
  BookedCard(Bytes card, uint32_t blocks, const SharedPlan& plan)
      : vmm_({.capacity = card}, &streams_, &calls_),
        allocator_({.plan = plan}, vmm_, streams_, nobody_),
        addresses_(blocks) {}

  // Returns false if a request is not served.
  bool Play(const Request& request) {
    if (request.IsAllocation()) return Allocate(request);
    if (!request.IsFree()) return true;
    std::optional<DeviceAddress> address = std::exchange(addresses_[request.block], std::nullopt);
    if (address) MEMTRACE_CHECK(allocator_.Free(*address).ok());
    return true;
  }

  Bytes peak() const { return Of(allocator_.accounts().statistics().reserved_bytes.all.peak); }
  Bytes reserved() const {
    return Of(allocator_.accounts().statistics().reserved_bytes.all.current);
  }
  std::map<std::string, uint64_t> calls() const {
    std::map<std::string, uint64_t> named;
    for (const auto& [name, call] :
         {std::pair{"cuMemCreate", DriverCall::kCreate}, std::pair{"cuMemMap", DriverCall::kMap},
          std::pair{"cuMemUnmap", DriverCall::kUnmap},
          std::pair{"cuStreamSynchronize", DriverCall::kWait}}) {
      const uint64_t count = calls_.calls(call);
      if (count > 0) named[name] = count;
    }
    return named;
  }

 private:
  static Bytes Of(int64_t bytes) { return static_cast<Bytes>(bytes); }
  bool Allocate(const Request& request) {
    AllocationResult result = allocator_.Allocate(request.bytes, StreamId{request.stream});
    if (std::holds_alternative<OutOfMemoryEvent>(result)) return false;
    addresses_[request.block] = std::get<DeviceAddress>(result);
    return true;
  }

  CallFailures calls_;
  MemoryStreams streams_{&calls_};
  MemoryVmm vmm_;
  AllocationObserver nobody_;
  CachingAllocator allocator_;
  std::vector<std::optional<DeviceAddress>> addresses_;
};

void NoteFailure(PlayOutcome& outcome, size_t place) {
  ++outcome.failures;
  if (!outcome.first_failure) outcome.first_failure = place;
}

}  // namespace

analysis::MemoryPlan PlanOf(const RequestSequence& sequence) {
  analysis::RequestLog log;
  std::vector<std::optional<analysis::RequestLog::Place>> places(sequence.blocks);
  for (const Request& request : sequence.requests) {
    if (request.IsAllocation()) {
      places[request.block] = log.Allocate(0, request.stream, RoundedSize(request.bytes));
    } else if (request.IsFree() && places[request.block]) {
      log.Free(*places[request.block]);
    }
  }
  return analysis::PlanMemory(log);
}

PlayOutcome PolicyOnBooks::PlayOn(Bytes card, bool stops, bool /*checks*/) {
  PlayOutcome outcome;
  BookedCard booked(card, sequence_.blocks, plan_);
  const size_t distance = std::max<size_t>(1, sequence_.requests.size() / kCurvePoints);
  for (size_t i = 0; i < sequence_.requests.size(); ++i) {
    if (!booked.Play(sequence_.requests[i])) NoteFailure(outcome, i);
    if (stops && outcome.failures > 0) break;
    if (i % distance == 0) outcome.in_use.push_back(booked.reserved());
  }
  outcome.peak = booked.peak();
  outcome.calls = booked.calls();
  return outcome;
}

std::optional<Bytes> PolicyOnBooks::SmallestCard() {
  const Bytes bound = LivePeak(sequence_);
  Bytes fails = RoundDown(bound - 1, kCardGranule);
  Bytes completes = RoundUp(2 * bound + 64_MiB, kCardGranule);
  if (!PlayOn(completes, true, false).completed()) return std::nullopt;
  while (completes - fails > kCardGranule) {
    const Bytes middle = RoundDown(fails + (completes - fails) / 2, kCardGranule);
    (PlayOn(middle, true, false).completed() ? completes : fails) = middle;
  }
  return completes;
}

PlayOutcome LowerBound::PlayOn(Bytes card, bool stops, bool /*checks*/) {
  PlayOutcome outcome;
  outcome.in_use = LiveCurve(sequence_, kCurvePoints);
  std::vector<Bytes> sizes(sequence_.blocks);
  Bytes live = 0;
  for (size_t i = 0; i < sequence_.requests.size(); ++i) {
    const Request& request = sequence_.requests[i];
    if (request.IsFree()) live -= std::exchange(sizes[request.block], 0);
    if (!request.IsAllocation()) continue;
    const Bytes bytes = RoundedSize(request.bytes);
    if (live + bytes > card) {
      NoteFailure(outcome, i);
      if (stops) break;
      continue;
    }
    live += sizes[request.block] = bytes;
    outcome.peak = std::max(outcome.peak, live);
  }
  return outcome;
}

std::optional<Bytes> LowerBound::SmallestCard() { return LivePeak(sequence_); }

}  // namespace memtrace::bench
