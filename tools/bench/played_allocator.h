// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_BENCH_PLAYED_ALLOCATOR_H_
#define MEMTRACE_TOOLS_BENCH_PLAYED_ALLOCATOR_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "tools/bench/player_process.h"
#include "tools/bench/tried_allocator.h"

namespace memtrace::bench {

// Names what a process of its own tries.
struct PlayedOrder {
  std::string allocator;  // a name of memtrace/_bench/tried.py, or the path of a library
  std::string allocate;   // the functions of a library
  std::string release;
  std::string requests;  // the file of WriteRequests
  std::string plan;      // the plan that memtrace's allocator follows; empty: none
  double limit = 60;     // seconds that one play may take
  bool is_gpu = false;   // on the machine's first GPU; else on a simulated card
};

// An allocator that serves requests on a card, in a process that forks for each play
// (python -m memtrace._bench).
class PlayedAllocator : public TriedAllocator {
 public:
  // Returns kFailedPrecondition or kNotFound if the package or Python is missing, kUnavailable if
  // the process cannot start. An allocator that cannot be loaded faults at its first play.
  static absl::StatusOr<std::unique_ptr<PlayedAllocator>> Start(const PlayedOrder& order);

  PlayedAllocator(std::unique_ptr<PlayerProcess> process, double limit)
      : process_(std::move(process)), limit_(limit) {}

  bool has_card() const override { return true; }
  PlayOutcome PlayOn(Bytes card, bool stops, bool checks) override;
  std::optional<TimedOutcome> Time(Bytes card, int threads, double seconds) override;

 private:
  // Waits until the process is ready, once.
  std::optional<Fault> Begin();

  std::unique_ptr<PlayerProcess> process_;
  const double limit_;
  bool is_ready_ = false;
  std::optional<Fault> fault_;  // of the start
};

}  // namespace memtrace::bench

#endif  // MEMTRACE_TOOLS_BENCH_PLAYED_ALLOCATOR_H_
