// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_EXTERNAL_CORRELATION_H_
#define MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_EXTERNAL_CORRELATION_H_

#include <array>
#include <cstdint>
#include <vector>

#include "interpose/simulated_card/cupti/cupti_header.h"

namespace memtrace::card {

// The regions that a thread is in according to a client, by kind (cupti_activity.h,
// cuptiActivityPushExternalCorrelationId). Each thread has one.
class ExternalCorrelation {
 public:
  static constexpr int kKinds = CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;

  static ExternalCorrelation& OfThread();

  CUptiResult Push(CUpti_ExternalCorrelationKind kind, std::uint64_t id);
  // Writes the id that was on top to *last, unless last is null.
  CUptiResult Pop(CUpti_ExternalCorrelationKind kind, std::uint64_t* last);

  // Calls visit(kind, id) with the innermost region of each kind that the thread is in.
  template <typename Visit>
  void VisitInnermost(Visit visit) const {
    for (int kind = 0; kind < kKinds; ++kind) {
      const auto& stack = stacks_[static_cast<std::size_t>(kind)];
      if (!stack.empty()) visit(static_cast<CUpti_ExternalCorrelationKind>(kind), stack.back());
    }
  }

 private:
  std::array<std::vector<std::uint64_t>, kKinds> stacks_;
};

}  // namespace memtrace::card

#endif  // MEMTRACE_INTERPOSE_SIMULATED_CARD_CUPTI_EXTERNAL_CORRELATION_H_
