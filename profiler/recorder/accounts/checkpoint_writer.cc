// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/checkpoint_writer.h"

#include <algorithm>

#include "profiler/recorder/accounts/plain_numbers.h"

namespace memtrace::recorder {

// True after each quarter of the file: when the oldest checkpoint is dropped, a later complete one
// exists, unless a live set takes half the file.
bool CheckpointWriter::is_due(const trace::RecordBlocks& blocks) const {
  const uint64_t kept = blocks.kept();
  return !is_running_ && kept != 0 && blocks.begun() - begun_at_block_ >= kept / 4;
}

void CheckpointWriter::Begin(trace::TraceWriter& writer, const LiveTable& live,
                             const RunAccount& run, uint64_t sequence, uint64_t time_ns) {
  list_.clear();
  list_.reserve(live.size());
  live.ForEach([this](const LiveTable::Key& key, const LiveBlock&) { list_.push_back(key); });
  next_ = 0;
  number_ = number_ == 255 ? uint8_t{1} : static_cast<uint8_t>(number_ + 1);
  sequence_ = sequence;
  phase_run_ = run.position().phase_run;
  begun_at_block_ = writer.blocks().begun();
  is_running_ = true;
  writer.checkpoint().Begin(sequence, time_ns);
  RestateRun(writer.checkpoint(), run);
}

void CheckpointWriter::RestateRun(trace::CheckpointRecords& records, const RunAccount& run) {
  const ProgramPosition& now = run.position();
  records.Restate(trace::Resume{.step = now.step,
                                .phase = now.phase,
                                .forward_seen = static_cast<uint8_t>(now.forward_seen ? 1 : 0),
                                .micro_batch = now.micro_batch});
  for (const auto& [key, value] : run.facts()) {
    records.Restate(trace::Annotate{.key = key, .value = value});
  }
  for (const auto& [thread, owner] : run.tags()) {
    records.Restate(trace::TagChange{.thread = thread, .owner = owner});
  }
  for (const auto& [device, card] : run.cards()) {
    if (card.sample) records.Restate(trace::CardSample{.card = *card.sample});
    card.mapped.ForEach([&records, number = Number(device)](uint64_t begin, uint64_t end) {
      records.Restate(trace::Map{.device = number, .address = begin, .size = end - begin});
    });
  }
  for (const auto& [key, outside] : run.outside()) records.Restate(outside);
  run.waiting().ForEach([&](const WaitingBlocks::Key& key, const FreedBlock& waiting) {
    Restate(records, run, {key.first, Number(key.second)}, waiting.block, /*is_waiting=*/true);
  });
}

void CheckpointWriter::Continue(trace::CheckpointRecords& records, LiveTable& live,
                                const RunAccount& run) {
  const size_t end = std::min(next_ + kBlocksPerEvent, list_.size());
  for (; next_ < end; ++next_) {
    const LiveTable::Key& key = list_[next_];
    LiveBlock* block = live.Find(DeviceIndex{key.second}, key.first);
    if (block == nullptr || !IsMissing(*block)) continue;
    Restate(records, run, key, *block, /*is_waiting=*/false);
    block->restated_in = number_;
  }
  if (next_ < list_.size()) return;
  records.End();
  is_running_ = false;
}

void CheckpointWriter::Removed(trace::CheckpointRecords& records, const RunAccount& run,
                               const LiveTable::Key& key, const LiveBlock& block) {
  if (is_running_ && IsMissing(block)) Restate(records, run, key, block, /*is_waiting=*/false);
}

void CheckpointWriter::Restate(trace::CheckpointRecords& records, const RunAccount& run,
                               const LiveTable::Key& key, const LiveBlock& block,
                               bool is_waiting) const {
  records.Restate(
      trace::Alive{.block = {.device = key.second,
                             .address = key.first.value(),
                             .requested = block.requested,
                             .allocated = block.allocated,
                             .stream = block.stream,
                             .pool = block.pool,
                             .stack = block.stack,
                             .owner = block.owner,
                             .module = block.module},
                   .birth = block.birth,
                   .step = block.step,
                   .phase = block.phase,
                   .in_same_phase = static_cast<uint8_t>(block.phase_run == phase_run_ ? 1 : 0),
                   .waiting = static_cast<uint8_t>(is_waiting ? 1 : 0),
                   .role = block.role,
                   .path = block.path});
  const auto card = run.cards().find(DeviceIndex{key.second});
  if (card == run.cards().end()) return;
  for (const trace::LabelledRange& part : card->second.Parts(key.first, block)) {
    records.Restate(trace::Relabel{.device = key.second,
                                   .address = part.begin,
                                   .size = part.end - part.begin,
                                   .role = part.label.role,
                                   .owner = part.label.owner,
                                   .path = part.label.path});
  }
}

}  // namespace memtrace::recorder
