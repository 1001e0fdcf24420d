// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_FIT_NEEDS_NEED_H_
#define MEMTRACE_TOOLS_FIT_NEEDS_NEED_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/message.h"
#include "tools/analysis/explanation.h"
#include "tools/analysis/source/annotation.h"
#include "tools/fit/needs/climb.h"
#include "tools/fit/needs/gap.h"
#include "tools/fit/needs/moments.h"
#include "tools/fit/needs/step_time.h"

namespace memtrace::fit {

// The part of a model's logits, and of what a loss makes of them.
inline constexpr std::string_view kLogits = Marked("logits");

struct NeedPart {
  std::string name;
  uint64_t bytes = 0;
};

// The memory that a program took on one card, in bytes.
struct CardNeed {
  int32_t card = 0;
  uint64_t peak_allocated = 0;  // as torch counts it: rounded, until the free is requested
  analysis::PhaseBytes phase_peaks = {};  // the same in each phase; 0: nothing was allocated in it
  uint64_t peak_reserved = 0;
  analysis::Position peak_at;   // of requested bytes
  std::vector<NeedPart> parts;  // the parts of `total`
  uint64_t total = 0;           // the least it can run with: peak, context, what others hold
  // Bytes that torch reserved beyond the peak: cached, and in holes. It gives back what it can
  // before a request fails.
  uint64_t fragmentation = 0;
  // Bytes by which the process held more beside the allocator at another moment than at the peak: a
  // library's, after the training. They need not be there when most is reserved.
  uint64_t more_beside = 0;
  std::vector<NeedPart> sites = {};   // of requested bytes: "activation, model.layers.*.mlp"
  std::vector<PeakRise> rises = {};   // of the allocated peak, at the ends of steps
  std::vector<PeakRise> floors = {};  // of what stays allocated at the ends of steps
  uint64_t below_peak = 0;  // the requested bytes by which the last step stayed below the peak
};

// The cost of a step beside memory.
struct StepCost {
  uint64_t kernel_launches = 0;
  uint64_t product_operations = 0;  // floating-point operations in products by cuBLAS
  uint64_t host_copy_bytes = 0;     // between host and card
  uint64_t host_memory_bytes = 0;   // page-locked, that torch held at most in the whole run
  // Sent by NCCL, by the rule of docs/design/collectives.md.
  uint64_t sent_bytes = 0;          // to ranks of the same machine
  uint64_t sent_bytes_network = 0;  // to ranks of other machines
  uint64_t sends = 0;               // point-to-point sends
  uint64_t microseconds = 0;  // on this machine, which does not compute: the mean of later steps
};

// Reads the cost of the last step; 0 for what the annotations do not have.
StepCost CostOf(const analysis::Annotations& annotations);

// A request that failed.
struct FailedLine {
  std::string line;  // of PlaceOf()
  uint64_t bytes = 0;
  uint64_t short_by = 0;
  analysis::Position at;
  bool is_fragmentation = false;
};

// How a process of a trial ended.
enum class TrialEnd : uint8_t {
  kProgram,  // it ended by itself
  kSettled,  // its peak had stopped rising
  kSteps,    // it had made the most steps allowed
};

struct ProcessNeed {
  std::string name;             // "rank 1", or the process's number
  std::vector<CardNeed> cards;  // the cards that it allocated on
  uint64_t steps = 0;           // steps that ended
  uint64_t planned_steps = 0;   // with which its Trainer means to end; 0: not known
  TrialEnd end = TrialEnd::kProgram;
  StepCost cost = {};                    // of the last step
  std::optional<StepTime> time = {};     // of the last step, estimated
  std::optional<FailedLine> failed;      // the last of `failures`
  uint64_t failures = 0;                 // requests that failed
  bool went_on = false;                  // it recovered from the last of them
  std::vector<Gap> gaps = {};            // moments that it has and did not see
  std::vector<MomentPeak> moments = {};  // moments that it had
};

// Returns the user's own line that made the request ("train.py:20"), else the path of its module
// ("layers.3.mlp"; "module 3" if that is a number), else the library's line. Returns "" if none of
// them is known.
std::string PlaceOf(const analysis::ExplainedRequest& request);

// Returns the most that the need can be of any moment: at no moment did the process hold more.
uint64_t AtMost(const CardNeed& need);

// `explanation` is that of the process's trace at the default moment (the last failure, else the
// peak).
ProcessNeed NeedOf(const analysis::Explanation& explanation);

// Each of several processes counts the others' memory as that of other processes. Replaces these
// bytes by `others`, the bytes of each card, in the first process that uses the card.
void CountOthersOnce(const std::vector<uint64_t>& others, std::vector<ProcessNeed>& processes);

// Returns the needs with those of the same card added up.
std::vector<CardNeed> Joined(const std::vector<ProcessNeed>& processes);

}  // namespace memtrace::fit

#endif  // MEMTRACE_TOOLS_FIT_NEEDS_NEED_H_
