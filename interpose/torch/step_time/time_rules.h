// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_STEP_TIME_TIME_RULES_H_
#define MEMTRACE_INTERPOSE_TORCH_STEP_TIME_TIME_RULES_H_

#include <cstdint>

#include "interpose/simulated_card/interface/card_times.h"

namespace memtrace::shim {

using CardTimes = struct memtrace_card_times;

enum class WorkKind : uint8_t {
  kMoves,  // bound by the bytes that it reads and writes
  kProduct,
  kAttention,
  kConvolution,
  kToCard,
  kToHost,
  kToOtherCard,
};

// The form of the numbers that are multiplied.
enum class NumberForm : uint8_t { kFloat8, kBfloat16, kFloat16, kTf32, kFloat32 };

enum class AttentionKernel : uint8_t { kFlash, kCudnn, kEfficient };

// The work of one operator on the card.
struct Work {
  WorkKind kind = WorkKind::kMoves;
  NumberForm form = NumberForm::kFloat32;
  AttentionKernel kernel = AttentionKernel::kFlash;
  bool is_backward = false;
  bool is_aligned = true;      // rows of products are multiples of 16 bytes
  bool is_rearranged = false;  // the tensors of a convolution are copied to channels-last and back
  bool is_pinned = false;      // the host's side of a copy
  bool is_awaited = true;      // the host waits for the copy
  bool is_unknown = false;     // there is no rule for the operator, only its bytes
  double operations = 0;       // floating-point operations
  double bytes = 0;            // that it reads and writes at least
  double passes = 1;           // how often it moves these bytes
  double length = 0;           // of the sequence, for attention
  double head = 128;           // size of a head
};

// Returns the estimated microseconds of the work on the card, or on the bus for a copy between host
// and card. docs/design/whole-job.md, "How long a step takes", has the rules and their errors.
double MicrosecondsOf(const Work& work, const CardTimes& times);

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_STEP_TIME_TIME_RULES_H_
