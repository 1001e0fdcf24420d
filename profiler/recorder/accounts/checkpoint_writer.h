// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_CHECKPOINT_WRITER_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_CHECKPOINT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/recorder/accounts/live_table.h"
#include "profiler/recorder/accounts/run_account.h"
#include "profiler/trace/writing/trace_writer.h"

namespace memtrace::recorder {

// Writes checkpoints into a trace that keeps only its last part: one for each quarter of the file.
//
// No thread waits for a whole live set. A checkpoint begins with a list of the live blocks (some
// nanoseconds each) and the state besides blocks; then each event restates kBlocksPerEvent of the
// list, and a block that is freed before its turn is restated first. Thread rule: one thread at a
// time.
class CheckpointWriter {
 public:
  static constexpr size_t kBlocksPerEvent = 8;  // less than 1 us

  // Both use the state after the latest event, whose number is `sequence`.
  bool is_due(const trace::RecordBlocks& blocks) const;
  void Begin(trace::TraceWriter& writer, const LiveTable& live, const RunAccount& run,
             uint64_t sequence, uint64_t time_ns);
  void Continue(trace::CheckpointRecords& records, LiveTable& live, const RunAccount& run);
  // Restates `block`, which is about to be forgotten, if the checkpoint still lacks it.
  void Removed(trace::CheckpointRecords& records, const RunAccount& run, const LiveTable::Key& key,
               const LiveBlock& block);

  bool is_running() const { return is_running_; }

 private:
  void RestateRun(trace::CheckpointRecords& records, const RunAccount& run);
  void Restate(trace::CheckpointRecords& records, const RunAccount& run, const LiveTable::Key& key,
               const LiveBlock& block, bool is_waiting) const;
  bool IsMissing(const LiveBlock& block) const {
    return block.birth <= sequence_ && block.restated_in != number_;
  }

  bool is_running_ = false;
  uint8_t number_ = 0;
  uint64_t sequence_ = 0;  // of the latest event before the checkpoint
  uint32_t phase_run_ = 0;
  uint64_t begun_at_block_ = 0;  // blocks of events begun by then
  std::vector<LiveTable::Key> list_;
  size_t next_ = 0;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_CHECKPOINT_WRITER_H_
