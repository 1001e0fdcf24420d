// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/torch/step_time/timed_call.h"

#include <c10/cuda/CUDAStream.h>

#include <algorithm>

namespace memtrace::shim {
namespace {

thread_local TimedCall* innermost = nullptr;

}  // namespace

void TimedCall::Begin(StepTimes& times, const c10::OperatorHandle& op, const OperatorFacts& facts,
                      const torch::jit::Stack& stack) {
  begun_.emplace(Begun{.times = times,
                       .facts = facts,
                       .work = OperatorWork(op, facts, stack),
                       .outer = innermost,
                       .launches_before = times.Launches(),
                       .writes_before = times.WritesOfThread()});
  innermost = this;
}

void TimedCall::Count(const torch::jit::Stack& stack) {
  const uint64_t all = begun_->times.Launches() - begun_->launches_before;
  const uint64_t kernels = all - std::min(all, begun_->kernels_inside);
  const bool writes = begun_->times.WritesOfThread() != begun_->writes_before;
  if (begun_->outer != nullptr) {
    Begun& outer = *begun_->outer->begun_;
    outer.kernels_inside += all;
    outer.has_inside = outer.has_inside || all > 0 || writes || begun_->work.is_copy();
  } else {
    begun_->times.AddInside(all);
  }
  if (begun_->facts.collective) return;  // what it sends is counted by the card
  const bool fills = writes && !begun_->has_inside;
  if (kernels == 0 && !fills && !begun_->work.is_copy()) return;
  begun_->work.AddResults(stack);
  begun_->times.Add(begun_->facts.name, begun_->work.work(), kernels,
                    c10::cuda::getCurrentCUDAStream().stream());
}

void TimedCall::Leave() { innermost = begun_->outer; }

}  // namespace memtrace::shim
