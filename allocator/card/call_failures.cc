// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "allocator/card/call_failures.h"

#include <numeric>
#include <utility>

#include "base/check.h"

namespace memtrace {

void CallFailures::FailNth(DriverCall call, uint64_t nth, Repeat repeat, absl::Status error) {
  MEMTRACE_CHECK_GT(nth, uint64_t{0});
  plan_ = Plan{call, nth - 1, repeat, std::move(error)};
}

void CallFailures::FailNthOfAny(uint64_t nth, Repeat repeat, absl::Status error) {
  MEMTRACE_CHECK_GT(nth, uint64_t{0});
  plan_ = Plan{std::nullopt, nth - 1, repeat, std::move(error)};
}

absl::Status CallFailures::Next(DriverCall call) {
  ++calls_[static_cast<size_t>(call)];
  if (!plan_.has_value() || plan_->only.value_or(call) != call) return absl::OkStatus();
  if (plan_->until > 0) {
    --plan_->until;
    return absl::OkStatus();
  }
  ++failed_;
  absl::Status error = plan_->error;
  if (plan_->repeat == Repeat::kOnce) plan_.reset();
  return error;
}

uint64_t CallFailures::calls() const {
  return std::accumulate(calls_.begin(), calls_.end(), uint64_t{0});
}

}  // namespace memtrace
