// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_STEP_TIME_CARD_WORK_H_
#define MEMTRACE_INTERPOSE_TORCH_STEP_TIME_CARD_WORK_H_

#include <cstdint>
#include <memory>

#include "interpose/simulated_card/interface/card_control.h"
#include "interpose/simulated_card/interface/card_ranges.h"
#include "interpose/torch/step_time/time_rules.h"

namespace memtrace::shim {

// The work that the simulated card has got so far, and how fast it would do it.
//
// Thread rule: any thread.
class CardWork {
 public:
  struct Counts {
    uint64_t launches = 0;      // kernels and calls of libraries
    uint64_t sent = 0;          // bytes to cards of this machine
    uint64_t sent_network = 0;  // bytes to cards of other machines
  };

  // Returns null if the process has no simulated card.
  static std::unique_ptr<CardWork> OfProcess();

  Counts Now() const;
  // Returns how often the calling thread copied to or filled memory of the card.
  uint64_t WritesOfThread() const { return thread_()->writes; }
  // Returns the times of the first card.
  CardTimes Times() const;

 private:
  CardWork() = default;

  decltype(&memtrace_card_activity) activity_ = nullptr;
  decltype(&memtrace_card_times) times_ = nullptr;
  decltype(&memtrace_card_thread) thread_ = nullptr;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_STEP_TIME_CARD_WORK_H_
