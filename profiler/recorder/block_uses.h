// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_BLOCK_USES_H_
#define MEMTRACE_PROFILER_RECORDER_BLOCK_USES_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/base/attributes.h"
#include "absl/base/thread_annotations.h"
#include "profiler/recorder/accounts/last_uses.h"
#include "profiler/recorder/accounts/live_table.h"
#include "profiler/recorder/event_log.h"

namespace memtrace::recorder {

// Notes when the program's operations last used the blocks, as an observer of all operations tells.
// Nothing is written to the trace. It takes the trace's lock, so that a use and an allocation have
// an order. Errors: as of Recorder. Thread rule: any thread.
class BlockUses {
 public:
  explicit BlockUses(EventLog& log ABSL_ATTRIBUTE_LIFETIME_BOUND) : log_(log) {}

  // Uses are noted from now on. Must be called before memory is allocated, because a block that was
  // used before counts as not used since its allocation.
  void Follow();

  // Notes that an operation uses the memory at these addresses, of any card. Between BeginCapture
  // and EndCapture, which may nest, it becomes part of a graph.
  void Note(std::span<const uint64_t> addresses);
  void BeginCapture() { captures_.fetch_add(1, std::memory_order_relaxed); }
  void EndCapture() { captures_.fetch_sub(1, std::memory_order_relaxed); }

  // Sets the last use of each block, and returns the step of the program. Returns nothing, and sets
  // none, if uses are not noted.
  std::optional<uint64_t> SetIn(std::vector<PlacedBlock>& blocks) const;

 private:
  void ForgetFreed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(log_.mutex());

  EventLog& log_;
  std::atomic<int> captures_ = 0;
  std::unique_ptr<LastUses> uses_ ABSL_GUARDED_BY(log_.mutex());  // null: not noted
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_BLOCK_USES_H_
