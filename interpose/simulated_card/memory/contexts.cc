// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/memory/contexts.h"

#include <array>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

// Plain data without a destructor, because memory is freed, and contexts are read, while a thread's
// destructors run.
struct ContextStack {
  std::array<Context*, Contexts::kDeepestStack> contexts;
  std::uint32_t depth;
};
thread_local ContextStack current{};

}  // namespace

Contexts::Contexts(Cards& cards) : cards_(cards) {
  for (std::size_t device = 0; device < cards.size(); ++device)
    contexts_.emplace_back(static_cast<int>(device), NumberOf(static_cast<int>(device)),
                           /*is_primary=*/true);
}

Result Contexts::Retain(int device, Context** context) {
  const MutexLock lock(mutex_);
  Context& wanted = Primary(device);
  if (!CardOf(wanted).ActivateContext()) return Result::kOutOfMemory;
  ++wanted.retained;
  wanted.active = true;
  *context = &wanted;
  return Result::kSuccess;
}

Result Contexts::Release(int device, Context** ended) {
  *ended = nullptr;
  const MutexLock lock(mutex_);
  Context& released = Primary(device);
  if (released.retained == 0) return Result::kInvalidContext;
  if (--released.retained > 0) return Result::kSuccess;
  released.active = false;
  CardOf(released).DeactivateContext();
  *ended = &released;
  return Result::kSuccess;
}

bool Contexts::IsActive(int device) const {
  const MutexLock lock(mutex_);
  return contexts_[static_cast<std::size_t>(device)].active;
}

std::uint32_t Contexts::References(int device) const {
  const MutexLock lock(mutex_);
  return contexts_[static_cast<std::size_t>(device)].retained;
}

Result Contexts::Create(int device, unsigned flags, Context** context) {
  const MutexLock lock(mutex_);
  const bool has_place = current.depth < kDeepestStack;
  if (!has_place || !CardOf(Primary(device)).AddContext()) return Result::kOutOfMemory;
  Context& made = contexts_.emplace_back(device, contexts_.size() + 1, /*is_primary=*/false);
  made.flags = flags;
  made.active = true;
  current.contexts[current.depth++] = &made;
  *context = &made;
  return Result::kSuccess;
}

Result Contexts::Destroy(const void* context) {
  Context* found = nullptr;
  if (Find(context, &found) != Result::kSuccess || found->primary) return Result::kInvalidContext;
  const MutexLock lock(mutex_);
  if (!found->active.exchange(false)) return Result::kInvalidContext;
  CardOf(*found).RemoveContext();
  if (Current() == found) --current.depth;
  return Result::kSuccess;
}

Context* Contexts::Owner(OwnerId id, int device) {
  const MutexLock lock(mutex_);
  return id == 0 ? &Primary(device) : &contexts_[id - 1];
}

Result Contexts::Find(const void* context, Context** found) {
  const MutexLock lock(mutex_);
  for (Context& ours : contexts_) {
    if (&ours != context) continue;
    *found = &ours;
    const bool ended = !ours.primary && !ours.active;
    return ended ? Result::kContextIsDestroyed : Result::kSuccess;
  }
  return Result::kInvalidContext;
}

Result Contexts::SetCurrent(const void* context) {
  if (context == nullptr) {
    if (current.depth > 0) --current.depth;
    return Result::kSuccess;
  }
  if (current.depth == 0) return Push(context);
  Context* ours = nullptr;
  const Result found = Find(context, &ours);
  if (found == Result::kSuccess) current.contexts[current.depth - 1] = ours;
  return found;
}

Result Contexts::Push(const void* context) {
  Context* ours = nullptr;
  const Result found = Find(context, &ours);
  if (found != Result::kSuccess) return found;
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
