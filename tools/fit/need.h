// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEED_H_
#define MEMTRACE_TOOLS_FIT_NEED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/explanation.h"
#include "tools/fit/climb.h"

namespace memtrace::fit {

struct NeedPart {
  std::string name;
  uint64_t bytes = 0;
};

// What a program took of one card. Bytes.
struct CardNeed {
  int32_t card = 0;
  uint64_t peak_allocated = 0;  // as torch counts it: rounded, until the free is requested
  uint64_t peak_reserved = 0;
  analysis::Position peak_at;   // of what was requested
  std::vector<NeedPart> parts;  // they sum to `total`
  uint64_t total = 0;           // what it cannot do without: the peak, context, what others hold
  // What torch reserved beyond the peak: cached, and in holes. It gives back what it can before a
  // request fails.
  uint64_t fragmentation = 0;
  std::vector<NeedPart> sites = {};  // of what was requested: "activation, model.layers.*.mlp"
  std::vector<PeakRise> rises = {};  // of the allocated peak, at the ends of steps
};

// What a step takes beside memory.
struct StepCost {
  uint64_t kernel_launches = 0;
  uint64_t product_operations = 0;  // of floating point, in products that cuBLAS was asked for
  uint64_t host_copy_bytes = 0;     // between host and card
};

// A request that failed.
struct FailedLine {
  std::string line;  // "train.py:20", or where it was if no line is known
  uint64_t bytes = 0;
  uint64_t short_by = 0;
  analysis::Position at;
  bool is_fragmentation = false;
};

// How a process of a trial ended.
enum class TrialEnd : uint8_t {
  kProgram,  // by itself
  kSettled,  // its peak rose no more
  kSteps,    // it had made as many steps as it may
};

struct ProcessNeed {
  std::string name;             // "rank 1", or the process's number
  std::vector<CardNeed> cards;  // that it allocated on
  uint64_t steps = 0;           // that ended
  TrialEnd end = TrialEnd::kProgram;
  std::optional<FailedLine> failed;  // the last of `failures`
  uint64_t failures = 0;             // requests that failed
  bool went_on = false;              // after the last of them, as if it had not been
};

// `explanation`: of the process's trace, with what is known by default (the last failure, else the
// peak).
ProcessNeed NeedOf(const analysis::Explanation& explanation);

// Of several processes each sees the others' memory as that of other processes. Takes that away:
// what is left are `others`, of each card, in the first process that uses it.
void CountOthersOnce(const std::vector<uint64_t>& others, std::vector<ProcessNeed>& processes);

// The same cards of several processes are one.
std::vector<CardNeed> Joined(const std::vector<ProcessNeed>& processes);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEED_H_
