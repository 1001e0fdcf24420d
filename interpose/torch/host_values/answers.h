// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_ANSWERS_H_
#define MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_ANSWERS_H_

#include <ATen/core/stack.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "interpose/torch/host_values/card_contents.h"
#include "interpose/torch/host_values/card_thread.h"
#include "interpose/torch/host_values/host_reads.h"
#include "interpose/torch/host_values/operator_call.h"
#include "interpose/torch/host_values/operator_facts.h"
#include "interpose/torch/host_values/remembered_counts.h"

namespace memtrace::shim {

// While it lives, reads inside this operator that have their own answers in the policy get them,
// one after the other.
class InsideScope {
 public:
  explicit InsideScope(const OperatorFacts& facts);
  ~InsideScope();
  InsideScope(const InsideScope&) = delete;
  InsideScope& operator=(const InsideScope&) = delete;

  const OperatorFacts& facts() const { return facts_; }
  bool HasNext() const { return next_ < facts_.rule->inside.size(); }
  double Next() { return facts_.rule->inside[next_++]; }

 private:
  const OperatorFacts& facts_;
  size_t next_ = 0;
  InsideScope* const outer_;
};

// Gives the host an answer if the card's memory holds no value, and counts it.
//
// Thread rule: any thread. The constructor's arguments must outlive it.
class Answers {
 public:
  Answers(const CardContents& card, HostReads& reads) : card_(card), reads_(reads) {}

  // Such an operator reads only the number of passing elements from the card. Gives it the true
  // number if that was `computed`, or the earlier answer for a tensor that was not written since,
  // or the policy's, so that it allocates as on a GPU. Does nothing for an operator without such a
  // rule.
  void GiveCount(const OperatorFacts& facts, const OperatorCall& call, bool computed);

  // Returns what such an operator chooses, and notes that something was chosen.
  Choice Choose(const OperatorRule& rule);
  // If set, what would be chosen evenly is chosen by all alike: a router's worst case.
  void SetUneven(bool is_uneven) { is_uneven_ = is_uneven; }

  // Counts the operator's reads, as its watch saw them; replaces an unknown number on top of the
  // stack with the policy's.
  void NoteReads(const OperatorFacts& facts, const OperatorCall& call, const ReadWatch& watch,
                 torch::jit::Stack& stack);

 private:
  void GiveNumber(const OperatorFacts& facts, const at::Tensor& read, torch::jit::Stack& stack);

  void NoteCount(const OperatorFacts& facts, Known known, std::string answer);
  int64_t CountOf(const OperatorFacts& facts, const at::Tensor& tensor);

  const CardContents& card_;
  HostReads& reads_;
  RememberedCounts counts_;
  std::atomic<bool> is_uneven_ = false;
};

}  // namespace memtrace::shim

#endif  // MEMTRACE_INTERPOSE_TORCH_HOST_VALUES_ANSWERS_H_
