// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_STEP_TIME_STEP_TIMES_H_
#define MEMTRACE_INTERPOSE_TORCH_STEP_TIME_STEP_TIMES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/base/thread_annotations.h"
#include "base/mutex.h"
#include "interpose/torch/step_time/card_work.h"
#include "interpose/torch/step_time/time_rules.h"

namespace memtrace::shim {

// Estimates how long the steps of this process take (docs/design/whole-job.md, "How long a step
// takes"): sums the times of operators by phase, and writes those of the last whole step into the
// trace.
//
// Thread rule: any thread.
class StepTimes {
 public:
  // Begins to count the operators of threads that host values follow. Returns false if the process
  // has no simulated card.
  static bool Start();
  // Returns null unless it was started, which only a trial of `memtrace fit` does.
  static StepTimes* OfProcess() { return of_process.load(std::memory_order_acquire); }

  // The program enters a phase, a number of phases.def.
  void SetPhase(int phase) { phase_.store(phase, std::memory_order_relaxed); }
  // Later operators belong to the next step.
  void EndStep();
  // Writes the times of the last step that ended; nothing before one ended.
  void Annotate();

  // Adds an operator that launched so many kernels itself, into `stream`.
  void Add(const std::string& name, const Work& work, uint64_t kernels, const void* stream);
  // Adds kernels that were launched within operators, by whichever of them.
  void AddInside(uint64_t kernels) { inside_.fetch_add(kernels, std::memory_order_relaxed); }
  // Kernels launched so far by the process.
  uint64_t Launches() const { return card_->Now().launches; }
  // Copies to and fills of the card's memory so far by the calling thread.
  uint64_t WritesOfThread() const { return card_->WritesOfThread(); }

 private:
  static constexpr size_t kPhases = 8;

  struct Part {
    double card = 0;  // microseconds
    double host = 0;
  };
  struct Step {
    std::array<Part, kPhases> parts = {};
    double awaited = 0;     // microseconds of copies for which the host waits
    double overlapped = 0;  // of copies in streams that do not compute
    double link = 0;
    uint64_t launches = 0;
    uint64_t outside = 0;
    std::set<std::string> unknown;
  };

  explicit StepTimes(std::unique_ptr<CardWork> card);
  Part PartOf(int phase) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // True if no other stream has computed for longer. Copies in this stream wait for its kernels,
  // and later kernels for them.
  bool IsComputing(const void* stream) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  static std::atomic<StepTimes*> of_process;

  const std::unique_ptr<CardWork> card_;
  const CardTimes times_;
  std::atomic<int> phase_ = 0;
  std::atomic<uint64_t> inside_ = 0;
  Mutex mutex_;
  Step current_ ABSL_GUARDED_BY(mutex_);
  Step last_ ABSL_GUARDED_BY(mutex_);
  bool has_last_ ABSL_GUARDED_BY(mutex_) = false;
  // Microseconds of kernels, by stream.
  std::map<const void*, double> computed_ ABSL_GUARDED_BY(mutex_);
  CardWork::Counts before_ ABSL_GUARDED_BY(mutex_);  // at the beginning of the step
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_STEP_TIME_STEP_TIMES_H_
