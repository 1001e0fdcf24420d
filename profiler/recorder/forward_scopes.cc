// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/forward_scopes.h"

#include <algorithm>
#include <utility>

namespace memtrace::recorder {

// The changes of one thread, by ascending sequence number: a ring that grows to kMaxChanges.
class ForwardScopes::Thread {
 public:
  explicit Thread(uint64_t number) : number_(number) {}

  // Reuses this for another thread, because its own is among the oldest.
  void ReuseFor(uint64_t number) {
    const SpinMutexLock lock(mutex_);
    number_ = number;
    first_ = 0;
    changes_.clear();
  }

  void Change(const Operation& next, ScopeId scope) {
    const SpinMutexLock lock(mutex_);
    if (number_ != next.thread) return;  // reused for another thread meanwhile
    if (!changes_.empty()) {
      Entry& last = changes_[Place(changes_.size() - 1)];
      if (last.scope == scope) return;
      if (last.sequence >= next.sequence) {
        last.scope = scope;
        return;
      }
    }
    Append({.sequence = next.sequence, .scope = scope});
  }

  ScopeId At(const Operation& operation) const {
    const SpinMutexLock lock(mutex_);
    if (number_ != operation.thread) return 0;
    const size_t after = FirstAfter(operation.sequence);
    return after == 0 ? 0 : changes_[Place(after - 1)].scope;
  }

 private:
  struct Entry {
    uint64_t sequence = 0;
    ScopeId scope = 0;
  };

  size_t Place(size_t index) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const size_t place = first_ + index;
    return place < changes_.size() ? place : place - changes_.size();
  }
  // Returns the index of the first change after the operation. A backward pass asks for operations
  // in about the reverse order, so the answer is mostly the latest one or the one before it.
  size_t FirstAfter(uint64_t sequence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const size_t likely : {latest_, latest_ - std::min<size_t>(latest_, 1)}) {
      if (IsFirstAfter(likely, sequence)) return latest_ = likely;
    }
    size_t below = 0;
    size_t above = changes_.size();
    while (below < above) {
      const size_t middle = below + (above - below) / 2;
      if (changes_[Place(middle)].sequence <= sequence) {
        below = middle + 1;
      } else {
        above = middle;
      }
    }
    return latest_ = below;
  }
  bool IsFirstAfter(size_t index, uint64_t sequence) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return index <= changes_.size() &&
           (index == changes_.size() || changes_[Place(index)].sequence > sequence) &&
           (index == 0 || changes_[Place(index - 1)].sequence <= sequence);
  }
  void Append(const Entry& entry) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (changes_.size() < kMaxChanges) return changes_.push_back(entry);
    changes_[first_] = entry;
    first_ = first_ + 1 == kMaxChanges ? 0 : first_ + 1;
  }

  mutable SpinMutex mutex_;
  uint64_t number_ ABSL_GUARDED_BY(mutex_);
  size_t first_ ABSL_GUARDED_BY(mutex_) = 0;           // oldest entry of a full ring
  mutable size_t latest_ ABSL_GUARDED_BY(mutex_) = 0;  // last answer of FirstAfter
  std::vector<Entry> changes_ ABSL_GUARDED_BY(mutex_);
};

ForwardScopes::ForwardScopes() = default;
ForwardScopes::~ForwardScopes() = default;

void ForwardScopes::Change(const Operation& next, ScopeId scope) {
  FindOrMake(next.thread).Change(next, scope);
}

ScopeId ForwardScopes::At(const Operation& operation) const {
  const Thread* thread = Find(operation.thread);
  return thread == nullptr ? 0 : thread->At(operation);
}

ForwardScopes::Thread* ForwardScopes::Find(uint64_t thread) const {
  const SpinMutexLock lock(mutex_);
  const auto known = by_number_.find(thread);
  return known == by_number_.end() ? nullptr : known->second;
}

// Threads are never freed while this lives, so Find needs only a short lock.
ForwardScopes::Thread& ForwardScopes::FindOrMake(uint64_t thread) {
  const SpinMutexLock lock(mutex_);
  Thread*& known = by_number_[thread];
  if (known != nullptr) return *known;
  std::unique_ptr<Thread> made;
  if (threads_.size() < kMaxThreads) {
    made = std::make_unique<Thread>(thread);
  } else {
    made = std::move(threads_.front());
    threads_.pop_front();
    absl::erase_if(by_number_, [&](const auto& entry) { return entry.second == made.get(); });
    made->ReuseFor(thread);
  }
  threads_.push_back(std::move(made));
  by_number_[thread] = threads_.back().get();
  return *threads_.back();
}

}  // namespace memtrace::recorder
