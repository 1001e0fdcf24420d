// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_STEP_TIME_OPERATOR_RULES_H_
#define MEMTRACE_INTERPOSE_TORCH_STEP_TIME_OPERATOR_RULES_H_

#include <cstdint>
#include <string>

#include "interpose/torch/step_time/time_rules.h"

namespace memtrace::shim {

// The meaning of an operator's arguments for its work.
enum class ArgumentUse : uint8_t {
  kAll,          // reads all of them, writes those that it changes
  kGathers,      // reads as much of the first as it writes, and all others
  kScatters,     // changes as much of the first as the others have
  kSkipsFirst,   // reads almost nothing of the first
  kSkipsSecond,  // the same of the second
};

// The rule for one operator; the default is that of an elementwise kernel.
struct WorkRule {
  WorkKind kind = WorkKind::kMoves;
  ArgumentUse use = ArgumentUse::kAll;
  AttentionKernel kernel = AttentionKernel::kFlash;
  bool is_backward = false;
  bool is_transposed = false;   // a convolution
  bool has_heads_last = false;  // attention over [batch, length, heads, size]
  bool is_unknown = false;
  uint8_t first_factor = 0;  // the place of a product's first factor among the arguments
  double passes = 1;
};

// Returns the rule for the operator, "aten::mm". Never null; it lives for ever.
const WorkRule& WorkRuleOf(const std::string& name);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_STEP_TIME_OPERATOR_RULES_H_
