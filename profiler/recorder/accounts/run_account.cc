// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/run_account.h"

#include <utility>

namespace memtrace::recorder {

void RunAccount::SelectCard(DeviceIndex device) {
  latest_ = &cards_[device];
  latest_device_ = device;
}

void RunAccount::ForgetEarlierPeaks() {
  for (auto& [device, card] : cards_) card.ForgetPeak();
}

void RunAccount::Note(const trace::Map& map) {
  Card(DeviceIndex{map.device}).mapped.Map(map.address, map.size);
}

void RunAccount::Note(const trace::Unmap& unmap) {
  Card(DeviceIndex{unmap.device}).mapped.Unmap(unmap.address, unmap.size);
}

void RunAccount::Note(const trace::Step& step) {
  ++steps_;
  position_.step = step.number;
  position_.micro_batch = 0;
  for (auto& [device, card] : cards_) card.BeginStep();
}

void RunAccount::Note(const trace::PhaseChange& change) {
  if (change.micro_batch != 0) position_.micro_batch = change.micro_batch;
  if (change.phase == position_.phase) return;
  position_.phase = change.phase;
  ++position_.phase_run;
  position_.forward_seen = position_.forward_seen || change.phase == trace::Phase::kForward;
}

void RunAccount::Note(const trace::TagChange& change) {
  const auto known = tags_.find(change.thread);
  if (known != tags_.end()) {
    if (change.owner != 0) {
      known->second = change.owner;
    } else {
      left_tag_ = tags_.extract(known);
    }
  } else if (change.owner != 0 && tags_.size() < kMaxThreads) {
    if (left_tag_.empty()) {
      tags_.emplace(change.thread, change.owner);
      return;
    }
    left_tag_.key() = change.thread;
    left_tag_.mapped() = change.owner;
    tags_.insert(std::move(left_tag_));
  }
}

void RunAccount::Note(const trace::Annotate& fact) { facts_[fact.key] = fact.value; }

void RunAccount::Note(const trace::OutOfMemory& failure) {
  ++failures_;
  last_failure_ = {.event = failure, .at = position_};
  for (const trace::CardLedger& card : failure.cards) Note(trace::CardSample{card});
}

void RunAccount::Note(const trace::CardSample& sample) {
  Card(DeviceIndex{sample.card.device}).sample = sample.card;
}

void RunAccount::Note(const trace::OutsideAllocate& outside) {
  if (outside_.size() >= kMaxOutside) return;
  outside_[{outside.kind, outside.address}] = outside;
}

void RunAccount::Note(const trace::OutsideFree& freed) {
  outside_.erase({freed.kind, freed.address});
}

}  // namespace memtrace::recorder
