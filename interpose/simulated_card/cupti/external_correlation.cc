// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/cupti/external_correlation.h"

namespace memtrace::card {
namespace {

bool IsKind(CUpti_ExternalCorrelationKind kind) {
  return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID &&
         kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

}  // namespace

ExternalCorrelation& ExternalCorrelation::OfThread() {
  static thread_local ExternalCorrelation thread;
  return thread;
}

CUptiResult ExternalCorrelation::Push(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  if (!IsKind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  stacks_[static_cast<std::size_t>(kind)].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult ExternalCorrelation::Pop(CUpti_ExternalCorrelationKind kind, std::uint64_t* last) {
  if (!IsKind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  auto& stack = stacks_[static_cast<std::size_t>(kind)];
  if (stack.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = stack.back();
  stack.pop_back();
  return CUPTI_SUCCESS;
}

}  // namespace memtrace::card
