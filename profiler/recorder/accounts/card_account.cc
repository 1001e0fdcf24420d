// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/accounts/card_account.h"

#include <algorithm>

#include "profiler/trace/events/inferred_role.h"

namespace memtrace::recorder {
namespace {

void Add(GroupSums& sums, trace::Role role, trace::StringId owner, Bytes bytes) {
  if (sums.size() >= CardAccount::kMaxGroups && !sums.contains(std::pair(role, owner))) owner = 0;
  sums[{role, owner}] += bytes;
}

}  // namespace

void CardAccount::BeginStep() {
  if (steps_.size() == kSteps) steps_.erase(steps_.begin());
  steps_.push_back(in_use());
}

void CardAccount::ForgetPeak() {
  if (live_requested_ > 0) return;
  peak_ = {};
  peak_sequence_ = 0;
  dead_.clear();
}

void CardAccount::Label(const trace::Relabel& label, const LiveBlock* whole) {
  const Bytes size = whole == nullptr ? label.size : whole->requested;
  const uint64_t end = label.address + size;
  if (whole != nullptr && (parts_.empty() || !parts_.HasAny(label.address, end))) return;
  if (parts_.size() >= kMaxParts || end < label.address) return;
  parts_.State(label.address, end, {.role = label.role, .owner = label.owner, .path = label.path});
}

void CardAccount::AddTo(GroupSums& sums, DeviceAddress address, const LiveBlock& block,
                        bool is_gone, const ProgramPosition& last) const {
  const trace::Role role =
      block.role != trace::Role::kUnknown
          ? block.role
          : trace::InferRole(block.phase, block.phase_run == last.phase_run, is_gone);
  Bytes rest = block.requested;
  if (!parts_.empty()) {
    for (const trace::LabelledRange& part : Parts(address, block)) {
      const Bytes bytes = part.end - part.begin;
      const bool is_stated = part.label.role != trace::Role::kUnknown;
      Add(sums, is_stated ? part.label.role : role,
          part.label.owner != 0 ? part.label.owner : block.owner, bytes);
      rest -= bytes;
    }
  }
  if (rest > 0) Add(sums, role, block.owner, rest);
}

std::vector<trace::LabelledRange> CardAccount::Parts(DeviceAddress address,
                                                     const LiveBlock& block) const {
  std::vector<trace::LabelledRange> parts;
  if (!parts_.empty()) parts_.AppendTo(parts, address.value(), (address + block.requested).value());
  return parts;
}

void CardAccount::AddDead(DeviceAddress address, const FreedBlock& freed) {
  AddTo(dead_, address, freed.block, /*is_gone=*/true, freed.at_request);
}

}  // namespace memtrace::recorder
