// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/trace/reading/checkpoint_scan.h"

#include <utility>

namespace memtrace::trace {

void CheckpointScan::EnterBlock(size_t block) {
  block_ = block;
  restated_ = {};
}

// A mark of 0 begins a checkpoint. Any other mark ends it if none of its records is missing: the
// mark is their number plus 1.
bool CheckpointScan::Mark(const RawRecord& record, const DeltaState& delta) {
  uint64_t restated_plus_one = 0;
  Checkpoint begun{.block = block_, .at = record.end, .delta = delta, .held = {}};
  RecordDecoder decoder(record, restated_);
  decoder.Number(restated_plus_one);
  decoder.Number(begun.sequence);
  decoder.Number(begun.time_ns);
  if (!decoder.ok() || found_) return decoder.ok();
  if (restated_plus_one == 0) {
    candidate_ = std::move(begun);
  } else if (candidate_ && candidate_->held.size() + 1 == restated_plus_one) {
    found_ = std::exchange(candidate_, std::nullopt);
  }
  return true;
}

bool CheckpointScan::Restated(const RawRecord& record, RecordKind event) {
  Event held;
  RawRecord said = record;
  said.kind = event;
  if (!DecodeEvent(said, restated_, &held)) return false;
  if (!candidate_ || found_) return true;
  held.sequence = candidate_->sequence;
  held.time_ns = candidate_->time_ns;
  candidate_->held.push_back(std::move(held));
  return true;
}

}  // namespace memtrace::trace
