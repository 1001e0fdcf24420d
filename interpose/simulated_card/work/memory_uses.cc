// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "interpose/simulated_card/work/memory_uses.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/mutex.h"

namespace memtrace::card {
namespace {

constexpr std::size_t kMostGraves = 4096;

std::string RangeText(Address begin, std::uint64_t bytes) {
  return std::to_string(bytes) + " bytes at " + begin.ToString();
}

// Returns "work 7 of stream 3": its number in order of submission, counted from 1.
std::string WorkText(const Work& work) {
  const Stream& stream = *work.stream;
  const std::string which =
      stream.id == 0 ? "the default stream" : "stream " + std::to_string(stream.id);
  return "work " + std::to_string(work.number) + " of " + which;
}

}  // namespace

void MemoryUses::Used(Address begin, std::uint64_t bytes, const Work& work, const char* call) {
  if (!progress_.Defers() || work.stream == nullptr || bytes == 0 ||
      !AddressRanges::Contains(begin))
    return;
  const MutexLock lock(mutex_);
  uses_.push_back({begin, begin + bytes, work, call});
  if (uses_.size() >= forget_at_) ForgetFinished();
}

void MemoryUses::ForgetFinished() {
  std::erase_if(uses_, [this](const Use& use) { return progress_.IsFinished(use.work); });
  forget_at_ = std::max<std::size_t>(256, 2 * uses_.size());
}

void MemoryUses::Missed(Address to, Address from, std::uint64_t bytes, const char* call) {
  const auto overlaps = [bytes](const Grave& grave, Address begin) {
    return begin < grave.end && grave.begin < begin + bytes;
  };
  const MutexLock lock(mutex_);
  std::string why = "was never mapped";
  for (auto grave = graves_.rbegin(); grave != graves_.rend(); ++grave) {
    if (!overlaps(*grave, to) && !overlaps(*grave, from)) continue;
    why = std::string("was taken away by ") + grave->call;
    break;
  }
  faults_.Count(std::string(call) + " of " + std::to_string(bytes) + " bytes from " +
                from.ToString() + " to " + to.ToString() + " touches memory that " + why +
                " or is not accessible");
}

void MemoryUses::MadeAccessible(const std::vector<MappedRange>& mappings) {
  if (!progress_.Defers()) return;
  const MutexLock lock(mutex_);
  for (const MappedRange& mapping : mappings)
    accessible_since_.emplace(mapping.begin, progress_.Now());
}

void MemoryUses::Mapped(HandleId handle, Address begin, const char* call) {
  if (!progress_.Defers()) return;
  const MutexLock lock(mutex_);
  CheckLeftOver(handle, call, "at " + begin.ToString());
}

void MemoryUses::Unmapped(const std::vector<MappedRange>& mappings, const char* call) {
  const MutexLock lock(mutex_);
  for (const MappedRange& mapping : mappings) {
    if (progress_.Defers()) {
      CheckNamed(mapping, call);
      CheckLaunches(mapping, call);
    }
    accessible_since_.erase(mapping.begin);
    RecordFreedRange(mapping.begin, mapping.bytes, call);
  }
}

// Counts one fault a mapping, for any number of uses; all uses stay with the handle.
void MemoryUses::CheckNamed(const MappedRange& mapping, const char* call) {
  bool is_counted = false;
  const Address end = mapping.begin + mapping.bytes;
  for (const Use& use : uses_) {
    if (use.end <= mapping.begin || end <= use.begin || progress_.IsFinished(use.work)) continue;
    left_over_[mapping.handle].push_back(use);
    if (std::exchange(is_counted, true)) continue;
    faults_.Count(std::string(call) + " of " + RangeText(mapping.begin, mapping.bytes) +
                  " was called while " + use.call + " (" + WorkText(use.work) + ") was unfinished");
  }
}

void MemoryUses::CheckLaunches(const MappedRange& mapping, const char* call) {
  const auto since = accessible_since_.find(mapping.begin);
  if (since == accessible_since_.end()) return;
  const auto launch = streams_.UnawaitedLaunch(mapping.device, since->second);
  if (!launch.has_value()) return;
  faults_.Count(std::string(call) + " of " + RangeText(mapping.begin, mapping.bytes) +
                " was called while a launch that may use it (" + WorkText(*launch) +
                ") was unfinished, and no stream had been waited for");
}

void MemoryUses::Released(HandleId handle, const char* call) {
  if (!progress_.Defers()) return;
  const MutexLock lock(mutex_);
  CheckLeftOver(handle, call, "of handle " + std::to_string(handle));
}

void MemoryUses::CheckLeftOver(HandleId handle, const char* call, const std::string& what) {
  const auto found = left_over_.find(handle);
  if (found == left_over_.end()) return;
  for (const Use& use : found->second) {
    if (progress_.IsFinished(use.work)) continue;
    faults_.Count(std::string(call) + " " + what + " was called while " + use.call + " (" +
                  WorkText(use.work) + ") on that memory was unfinished");
    break;
  }
  left_over_.erase(found);
}

void MemoryUses::Freed(Address begin, std::uint64_t bytes, const char* call) {
  const MutexLock lock(mutex_);
  RecordFreedRange(begin, bytes, call);
}

void MemoryUses::RecordFreedRange(Address begin, std::uint64_t bytes, const char* call) {
  graves_.push_back({begin, begin + bytes, call});
  if (graves_.size() > kMostGraves) graves_.pop_front();
}

}  // namespace memtrace::card
