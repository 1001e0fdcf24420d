// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/kept/failed_attempts.h"

#include <algorithm>
#include <set>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_split.h"
#include "profiler/trace/events/visit.h"
#include "tools/analysis/holders/block_parts.h"
#include "tools/analysis/source/annotation.h"
#include "tools/analysis/source/storage_places.h"

namespace memtrace::analysis {
namespace {

using trace::Phase;
using trace::Role;

bool IsPass(Phase phase) {
  return phase == Phase::kForward || phase == Phase::kEvaluate || phase == Phase::kGenerate;
}

bool IsBackward(Phase phase) { return phase == Phase::kBackward || phase == Phase::kRecompute; }

// True if a pass makes such memory for itself; the rest is meant to stay, whatever becomes of the
// pass.
bool IsMadeForPass(Role role) {
  return role == Role::kActivation || role == Role::kTemporary || role == Role::kInput ||
         role == Role::kUnknown;
}

// Parses where an exception is kept, as the hooks write it: "handled" or "name", the name, the
// place and the storages that only its ended frames hold, separated by tabs.
class KeptFailure {
 public:
  KeptFailure(const std::string& text, int32_t device) : parts_(absl::StrSplit(text, '\t')) {
    if (parts_.size() < 4) return;
    for (const auto& [card, address] : ParseStoragePlaces(parts_[3]))
      if (card == device) addresses_.insert(address);
  }

  bool Holds(const Block& block) const { return addresses_.contains(block.allocation.address); }

  void NameIn(FailedAttempts& left) const {
    if (parts_.size() < 3) return;
    using Keeper = FailedAttempts::Keeper;
    left.keeper = parts_[0] == "handled" ? Keeper::kHandler : Keeper::kName;
    left.name = parts_[1];
    left.place = parts_[2];
  }

 private:
  std::vector<std::string> parts_;
  absl::flat_hash_set<uint64_t> addresses_;
};

}  // namespace

void AttemptWatch::See(const trace::Event& event, uint64_t ordinal) {
  trace::Visit([&](const auto& payload) { See(payload, event.sequence, ordinal); }, event.payload);
}

void AttemptWatch::BeginPass(Phase phase, uint64_t sequence) {
  if (IsPass(phase) && !IsBackward(phase_)) pass_begin_ = sequence;
  phase_ = phase;
}

// A phase lasts until the next begins. After a forward with gradients on, the loss is computed;
// after another pass, the pass may be over.
bool AttemptWatch::IsOfPass(const trace::OutOfMemory& failure) const {
  if (pass_begin_ == 0) return false;
  return IsBackward(phase_) || phase_ == Phase::kForward || (IsPass(phase_) && failure.module != 0);
}

void AttemptWatch::NoteFailure(uint64_t sequence, uint64_t ordinal) {
  if (attempts_.empty() || attempts_.back().begin != pass_begin_)
    attempts_.push_back({.begin = pass_begin_, .end = 0, .last_failure = 0});
  attempts_.back().end = sequence;
  attempts_.back().last_failure = ordinal;
}

// True if the last failed pass goes on. After a real failure, an allocation is outside of all
// modules and of the backward.
bool AttemptWatch::IsPassContinued(const trace::Allocate& allocation) const {
  return !attempts_.empty() && attempts_.back().begin == pass_begin_ &&
         (allocation.module != 0 || IsBackward(phase_));
}

// Returns the attempt that made the block and was over before the failure with that ordinal; null
// if there is none.
const AttemptWatch::Attempt* AttemptWatch::MakerOf(const Block& block, uint64_t failure) const {
  const auto maker = std::find_if(attempts_.begin(), attempts_.end(), [&](const Attempt& attempt) {
    return attempt.begin <= block.sequence && block.sequence <= attempt.end &&
           attempt.last_failure < failure;
  });
  return maker == attempts_.end() ? nullptr : &*maker;
}

std::optional<FailedAttempts> AttemptWatch::LeftBehind(const FailedRequest& failed,
                                                       const std::vector<CapturedBlock>& captured,
                                                       const LiveSet& live,
                                                       const EventSource& source) const {
  FailedAttempts left;
  std::set<const Attempt*> makers;
  const KeptFailure kept(AnnotatedText(failed.annotations, fact::kFailureKept),
                         failed.event.device);
  for (const CapturedBlock& entry : captured) {
    const Block& block = live.block(entry.id);
    const Attempt* maker = entry.waiting ? nullptr : MakerOf(block, failed.ordinal);
    if (maker == nullptr && (entry.waiting || !kept.Holds(block))) continue;
    if (!IsMadeForPass(MainIdentity(entry.id, live, source.best_evidence()).role)) continue;
    left.bytes += block.allocation.requested;
    ++left.blocks;
    if (maker != nullptr) makers.insert(maker);
  }
  if (left.bytes == 0) return std::nullopt;
  left.attempts = std::max<uint64_t>(makers.size(), 1);
  kept.NameIn(left);
  return left;
}

}  // namespace memtrace::analysis
