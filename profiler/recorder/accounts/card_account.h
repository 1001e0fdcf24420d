// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_CARD_ACCOUNT_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_CARD_ACCOUNT_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/units.h"
#include "profiler/recorder/accounts/live_table.h"
#include "profiler/trace/events/event.h"
#include "profiler/trace/reading/label_ranges.h"
#include "profiler/trace/reading/mapped_ranges.h"

namespace memtrace::recorder {

// The position in the program, as the analysis counts it (tools/analysis/source/position.h).
struct ProgramPosition {
  uint64_t step = 0;
  uint64_t micro_batch = 0;
  uint32_t phase_run = 0;
  trace::Phase phase = trace::Phase::kOther;
  bool forward_seen = false;
};

// The moment at which the most requested bytes were in use, for the first time.
struct CardPeak {
  Bytes bytes = 0;      // requested
  Bytes allocated = 0;  // includes blocks whose free is not completed
  Bytes reserved = 0;
  ProgramPosition at;
};

// A block whose free was requested.
struct FreedBlock {
  LiveBlock block;
  ProgramPosition at_request;
  uint64_t sequence = 0;  // of the request
};

// Requested bytes by role and owner.
using GroupSums = absl::flat_hash_map<std::pair<trace::Role, trace::StringId>, Bytes>;

// The figures of one card that need no pass over its blocks, for the summary and the checkpoints.
// In bytes: requested and allocated bytes of a block count until its free is completed; the peak
// and the levels of steps count it until its free is requested, as the analysis does.
//
// The holders of memory at the peak are known without a copy of the live set: they are the blocks
// that are still alive and were allocated before the peak, and those freed since, whose sums are
// kept here and are cleared at each new peak.
class CardAccount {
 public:
  static constexpr size_t kSteps = 17;          // levels that are kept
  static constexpr size_t kMaxGroups = 4096;    // further owners count as none
  static constexpr size_t kMaxParts = 1 << 16;  // further labels of parts are left out

  void Allocated(const LiveBlock& block, const ProgramPosition& now) {
    live_requested_ += block.requested;
    live_allocated_ += block.allocated;
    if (in_use() > peak_.bytes) SetPeak(block.birth, now);
  }
  void FreeRequested(const LiveBlock& block) { waiting_ += block.requested; }
  void FreeCompleted(DeviceAddress address, const FreedBlock& freed) {
    waiting_ -= freed.block.requested;
    Freed(address, freed);
  }
  // FreeRequested and FreeCompleted at once.
  void Freed(DeviceAddress address, const FreedBlock& freed) {
    const LiveBlock& block = freed.block;
    live_requested_ -= block.requested;
    live_allocated_ -= block.allocated;
    if (WasAtPeak(block, freed.sequence)) AddDead(address, freed);
    if (!parts_.empty()) parts_.Forget(address.value(), (address + block.requested).value());
  }
  void BeginStep();
  // The next block sets the peak. Ignored while there are blocks.
  void ForgetPeak();
  // Notes a label of [address, address + size). `whole` is the block there, if the label covers all
  // of it.
  void Label(const trace::Relabel& label, const LiveBlock* whole);

  // `freed` is the sequence number of the request to free the block; all ones if there was none.
  bool WasAtPeak(const LiveBlock& block, uint64_t freed) const {
    return block.birth <= peak_sequence_ && freed > peak_sequence_;
  }
  // Adds `block` to `sums`, split if its parts are labelled.
  void AddTo(GroupSums& sums, DeviceAddress address, const LiveBlock& block, bool is_gone,
             const ProgramPosition& last) const;
  // Returns the labels of parts of the block.
  std::vector<trace::LabelledRange> Parts(DeviceAddress address, const LiveBlock& block) const;

  Bytes live_requested() const { return live_requested_; }
  Bytes live_allocated() const { return live_allocated_; }
  const CardPeak& peak() const { return peak_; }
  const GroupSums& dead_since_peak() const { return dead_; }
  const std::vector<uint64_t>& live_at_steps() const { return steps_; }  // at the last kSteps steps

  trace::MappedRanges mapped;
  std::optional<trace::CardLedger> sample;  // the latest one

 private:
  void SetPeak(uint64_t sequence, const ProgramPosition& now) {
    peak_ = {
        .bytes = in_use(), .allocated = live_allocated_, .reserved = mapped.bytes(), .at = now};
    peak_sequence_ = sequence;
    if (!dead_.empty()) dead_.clear();
  }
  Bytes in_use() const { return live_requested_ - waiting_; }
  void AddDead(DeviceAddress address, const FreedBlock& freed);

  Bytes live_requested_ = 0;
  Bytes waiting_ = 0;  // requested bytes of blocks whose free is not completed
  Bytes live_allocated_ = 0;
  CardPeak peak_;
  uint64_t peak_sequence_ = 0;
  GroupSums dead_;
  std::vector<uint64_t> steps_;
  trace::LabelRanges parts_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_CARD_ACCOUNT_H_
