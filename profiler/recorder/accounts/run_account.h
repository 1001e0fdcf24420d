// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_PROFILER_RECORDER_ACCOUNTS_RUN_ACCOUNT_H_
#define MEMTRACE_PROFILER_RECORDER_ACCOUNTS_RUN_ACCOUNT_H_

#include <cstdint>
#include <map>
#include <utility>

#include "profiler/recorder/accounts/card_account.h"
#include "profiler/recorder/accounts/live_table.h"
#include "profiler/recorder/accounts/waiting_blocks.h"
#include "profiler/trace/events/event.h"

namespace memtrace::recorder {

// An out-of-memory event, and where the program was.
struct FailureAt {
  trace::OutOfMemory event;
  ProgramPosition at;
};

// The state that a reader of all events so far would have, except for the live blocks themselves
// (LiveTable). Checkpoints restate it, and summaries report it. The recorder passes it every event
// after that is written. Thread rule: one thread at a time.
class RunAccount {
 public:
  static constexpr size_t kMaxThreads = 4096;     // with known tags; ended threads stay
  static constexpr size_t kMaxOutside = 1 << 16;  // blocks outside the allocator; more are left out

  void Allocated(DeviceIndex device, const LiveBlock& block) {
    Card(device).Allocated(block, position_);
  }
  // `sequence` is the number of the event.
  void FreeRequested(const WaitingBlocks::Key& key, const LiveBlock& block, uint64_t sequence) {
    waiting_.Add(key, {.block = block, .at_request = position_, .sequence = sequence});
    Card(key.second).FreeRequested(block);
  }
  void FreeCompleted(const WaitingBlocks::Key& key) {
    if (const auto freed = waiting_.Take(key)) Card(key.second).FreeCompleted(key.first, *freed);
  }
  // FreeRequested and FreeCompleted at once.
  void Freed(const WaitingBlocks::Key& key, const LiveBlock& block, uint64_t sequence) {
    Card(key.second)
        .Freed(key.first, {.block = block, .at_request = position_, .sequence = sequence});
  }
  // `whole` is the block at the label's address, if the label covers all of it.
  void Labelled(const trace::Relabel& label, const LiveBlock* whole) {
    Card(DeviceIndex{label.device}).Label(label, whole);
  }

  // For each card without blocks, the peak begins anew.
  void ForgetEarlierPeaks();

  // Ignores events that change nothing here.
  template <trace::OneOf<trace::Allocate, trace::FreeRequested, trace::FreeCompleted,
                         trace::Reserve, trace::Relabel, trace::Lost, trace::Resume, trace::Alive,
                         trace::Activity, trace::Moved>
                Ignored>
  void Note(const Ignored&) {}
  void Note(const trace::Map& map);
  void Note(const trace::Unmap& unmap);
  void Note(const trace::Step& step);
  void Note(const trace::PhaseChange& change);
  void Note(const trace::TagChange& change);
  void Note(const trace::Annotate& fact);
  void Note(const trace::OutOfMemory& failure);
  void Note(const trace::CardSample& sample);
  void Note(const trace::OutsideAllocate& outside);
  void Note(const trace::OutsideFree& freed);

  const ProgramPosition& position() const { return position_; }
  const std::map<DeviceIndex, CardAccount>& cards() const { return cards_; }
  const CardAccount& card(DeviceIndex device) { return Card(device); }
  const WaitingBlocks& waiting() const { return waiting_; }
  const std::map<trace::StringId, trace::StringId>& facts() const { return facts_; }
  const std::map<uint32_t, trace::StringId>& tags() const { return tags_; }  // by thread
  using OutsideKey = std::pair<trace::OutsideKind, uint64_t>;
  const std::map<OutsideKey, trace::OutsideAllocate>& outside() const { return outside_; }
  uint64_t steps() const { return steps_; }
  uint64_t failures() const { return failures_; }
  const FailureAt& last_failure() const { return last_failure_; }

 private:
  CardAccount& Card(DeviceIndex device) {
    if (latest_ == nullptr || device != latest_device_) SelectCard(device);
    return *latest_;
  }
  void SelectCard(DeviceIndex device);

  ProgramPosition position_;
  std::map<DeviceIndex, CardAccount> cards_;
  CardAccount* latest_ = nullptr;  // points into cards_, whose entries never move
  DeviceIndex latest_device_{};
  WaitingBlocks waiting_;
  std::map<trace::StringId, trace::StringId> facts_;
  std::map<uint32_t, trace::StringId> tags_;
  decltype(tags_)::node_type left_tag_;  // reused for the next tag, so that tags need no heap
  std::map<OutsideKey, trace::OutsideAllocate> outside_;  // by kind and address
  uint64_t steps_ = 0;
  uint64_t failures_ = 0;
  FailureAt last_failure_;
};

}  // namespace memtrace::recorder

#endif  // MEMTRACE_PROFILER_RECORDER_ACCOUNTS_RUN_ACCOUNT_H_
