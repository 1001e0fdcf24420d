// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/contexts.h"

#include <array>

namespace memtrace::card {
namespace {

// Plain data: memory is freed, and contexts are looked at, while a thread's destructors run.
struct ContextStack {
  std::array<Context*, Contexts::kDeepestStack> contexts;
  std::uint32_t depth;
};
thread_local ContextStack current{};

}  // namespace

Contexts::Contexts(Cards& cards) : cards_(cards) {
  for (std::size_t device = 0; device < cards.size(); ++device) {
    contexts_.push_back({.device = static_cast<int>(device)});
  }
}

Result Contexts::Retain(int device, Context** context) {
  const std::lock_guard lock(mutex_);
  Context& wanted = contexts_[static_cast<std::size_t>(device)];
  if (!cards_[static_cast<std::size_t>(device)]->ActivateContext()) return Result::kOutOfMemory;
  ++wanted.retained;
  wanted.active = true;
  *context = &wanted;
  return Result::kSuccess;
}

Result Contexts::Release(int device) {
  const std::lock_guard lock(mutex_);
  Context& released = contexts_[static_cast<std::size_t>(device)];
  if (released.retained == 0) return Result::kInvalidContext;
  --released.retained;
  return Result::kSuccess;
}

bool Contexts::IsActive(int device) const {
  const std::lock_guard lock(mutex_);
  return contexts_[static_cast<std::size_t>(device)].active;
}

int Contexts::DeviceOf(const void* context) const {
  // Devices do not change.
  for (const Context& ours : contexts_) {
    if (&ours == context) return ours.device;
  }
  return -1;
}

Context* Contexts::Find(const void* context) {
  for (Context& ours : contexts_) {
    if (&ours == context) return &ours;
  }
  return nullptr;
}

Result Contexts::SetCurrent(const void* context) {
  if (context == nullptr) {
    if (current.depth > 0) --current.depth;
    return Result::kSuccess;
  }
  if (current.depth == 0) return Push(context);
  Context* ours = Find(context);
  if (ours == nullptr) return Result::kInvalidContext;
  current.contexts[current.depth - 1] = ours;
  return Result::kSuccess;
}

Result Contexts::Push(const void* context) {
  Context* ours = Find(context);
  if (ours == nullptr) return Result::kInvalidContext;
  if (current.depth == kDeepestStack) return Result::kOutOfMemory;
  current.contexts[current.depth++] = ours;
  return Result::kSuccess;
}

Result Contexts::Pop(Context** popped) {
  if (current.depth == 0) return Result::kInvalidContext;
  *popped = current.contexts[--current.depth];
  return Result::kSuccess;
}

Context* Contexts::Current() {
  return current.depth == 0 ? nullptr : current.contexts[current.depth - 1];
}

}  // namespace memtrace::card
