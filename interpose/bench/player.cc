// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/bench/player.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <ctime>
#include <thread>
#include <utility>

#include "interpose/bench/block_check.h"

namespace memtrace::bench {
namespace {

constexpr size_t kPoints = 400;             // of the curve
constexpr size_t kRequestsAtOnce = 50'000;  // the card's log of calls is limited

struct Block {
  void* address = nullptr;
  uint64_t bytes = 0;
  uint32_t stream = 0;
};

// Returns the time in nanoseconds: of the processor for a single thread, which others on the
// machine disturb least, else of the clock.
double Now(int threads) {
  timespec now{};
  clock_gettime(threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// The blocks of one copy of the sequence.
class Blocks {
 public:
  Blocks(const RequestSequence& sequence, const TriedFunctions& functions,
         std::vector<void*> streams)
      : functions_(functions), streams_(std::move(streams)), blocks_(sequence.blocks) {}

  // Returns false if a request is not served.
  bool Play(const Request& request) {
    if (request.IsAllocation()) return Allocate(request);
    if (request.IsFree()) {
      Free(blocks_[request.block]);
    } else if (functions_.begin_step != nullptr) {
      functions_.begin_step(++step_);
    }
    return true;
  }

  void FreeAll() {
    for (Block& block : blocks_) Free(block);
  }

  void* AddressOf(uint32_t block) const { return blocks_[block].address; }

 private:
  bool Allocate(const Request& request) {
    Block& block = blocks_[request.block];
    block = {Obtain(request), request.bytes, request.stream};
    return block.address != nullptr;
  }
  void* Obtain(const Request& request) {
    const auto bytes = static_cast<ssize_t>(request.bytes);
    void* stream = streams_[request.stream];
    void* address = functions_.allocate(bytes, 0, stream);
    if (address != nullptr || functions_.empty_cache == nullptr) return address;
    functions_.empty_cache();
    return functions_.allocate(bytes, 0, stream);
  }
  void Free(Block& block) {
    if (block.address == nullptr) return;
    void* address = std::exchange(block.address, nullptr);
    functions_.release(address, static_cast<ssize_t>(block.bytes), 0, streams_[block.stream]);
  }

  const TriedFunctions& functions_;
  const std::vector<void*> streams_;
  std::vector<Block> blocks_;
  uint64_t step_ = 0;
};

bool PlayOnce(const RequestSequence& sequence, Blocks& blocks) {
  for (const Request& request : sequence.requests)
    if (!blocks.Play(request)) return false;
  blocks.FreeAll();
  return true;
}

}  // namespace

Player::Player(const RequestSequence& sequence, const TriedFunctions& functions,
               const CardDriver& card, CardBooks& books)
    : sequence_(sequence), functions_(functions), card_(card), books_(books) {}

std::vector<void*> Player::Streams(bool has_default) const {
  std::vector<void*> streams;
  if (has_default) streams.push_back(nullptr);
  while (streams.size() < sequence_.streams) streams.push_back(card_.MakeStream());
  return streams;
}

Played Player::Play(bool stops, bool checks) {
  Played played;
  Blocks blocks(sequence_, functions_, Streams(/*has_default=*/true));
  BlockCheck check(card_);
  const size_t count = sequence_.requests.size();
  const size_t distance = std::max<size_t>(1, count / kPoints);
  books_.StartCalls();
  for (size_t i = 0; i < count; ++i) {
    const Request& request = sequence_.requests[i];
    if (checks && request.IsFree()) check.Freed(blocks.AddressOf(request.block));
    if (!blocks.Play(request)) {
      ++played.failures;
      if (!played.first_failure) played.first_failure = i;
      if (stops) break;
    } else if (checks && request.IsAllocation()) {
      played.fault = check.Took(blocks.AddressOf(request.block), request.bytes);
      played.fault_at = i;
      if (!played.fault.empty()) break;
    }
    if (request.IsAllocation()) books_.Note();
    if (i % distance == 0) played.in_use.push_back(books_.InUse());
    if (i % kRequestsAtOnce == kRequestsAtOnce - 1) books_.TakeCalls(played.calls);
  }
  books_.TakeCalls(played.calls);
  played.peak = books_.Peak();
  if (played.fault.empty()) blocks.FreeAll();
  return played;
}

std::optional<double> Player::NanosecondsPerPair(int threads, double seconds) {
  std::atomic<bool> is_served = true;
  size_t passes = 0;
  double start = 0;
  double end = 0;
  // Completed by all threads before the first pass, after it, and after the measured ones.
  int phase = 0;
  const auto next_phase = [&]() noexcept {
    const double now = Now(threads);
    if (phase == 1) {
      passes =
          static_cast<size_t>(std::clamp(seconds * 1e9 / std::max(now - start, 1.0), 1.0, 1e6));
    }
    (phase == 2 ? end : start) = now;
    ++phase;
  };
  std::barrier together(threads, next_phase);
  std::vector<std::thread> running;
  running.reserve(static_cast<size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      card_.Enter();
      Blocks blocks(sequence_, functions_, Streams(thread == 0));
      together.arrive_and_wait();
      if (!PlayOnce(sequence_, blocks)) is_served = false;
      together.arrive_and_wait();
      for (size_t pass = 0; pass < passes && is_served; ++pass)
        if (!PlayOnce(sequence_, blocks)) is_served = false;
      together.arrive_and_wait();
    });
  }
  for (std::thread& thread : running) thread.join();
  if (!is_served) return std::nullopt;
  const double pairs = static_cast<double>(sequence_.allocations()) * static_cast<double>(passes) *
                       static_cast<double>(threads);
  return (end - start) / pairs;
}

}  // namespace memtrace::bench
