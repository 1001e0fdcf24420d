// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/interchange/role_guesses.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "tools/analysis/replayed/block_lives.h"
#include "tools/interchange/entry_order.h"
#include "tools/interchange/phase_reader.h"
#include "tools/interchange/stack_reader.h"

namespace memtrace::interchange {
namespace {

using trace::Phase;
using trace::Role;

// The size of a workspace of cuBLAS, for stacks of Python alone: torch's default,
// CUBLAS_WORKSPACE_CONFIG=:4096:2:16:8 (in KiB).
constexpr uint64_t kDefaultWorkspace = uint64_t{4096 * 2 + 16 * 8} * 1024;

}  // namespace

// One pass over the entries of all devices.
class RoleGuesses::Reading {
 public:
  Reading(const PickleTree& tree, const SnapshotRecords& records,
          const std::vector<SnapshotStart>& starts, RoleGuesses& guesses)
      : stacks_(tree), records_(records), starts_(starts), guesses_(guesses) {}

  void Run();

 private:
  // Holds what is known about a block when it is born.
  struct Birth {
    uint64_t size = 0;
    uint32_t index = 0;  // of its entry; the pickle has fewer than 2^32
    Role clue = Role::kUnknown;
    bool has_native = false;
    Phase phase = Phase::kOther;
    uint32_t phase_run = 0;
    uint32_t pass = 0;
    uint32_t failures = 0;  // number of requests that were refused before
    bool in_module_call = false;
  };

  // Torch's entries are followed as the events that they become.
  using Lives = analysis::BlockLives<Birth>;

  // The end of a block's life, or of the trace.
  struct Death {
    bool gone = false;
    StackClues clues;  // of the free
  };

  void ReadStarts();
  void Survey();
  void ReadEntry(size_t device, size_t index);
  template <typename Event>
  void Follow(const Event& event) {
    lives_.Follow(event, [this](const auto& happened) { this->Apply(happened); });
  }
  void Apply(const Lives::Born& born);
  void Apply(const Lives::LetGo& let_go);
  void Apply(const Lives::Ended&) {}
  void Apply(const Lives::Stray&) {}
  void NoteReplacement(int32_t device, const Birth& freed);
  void NotePhase(size_t device, size_t index);
  void EndForward(bool backward_follows);
  Role Judge(const Birth& birth, const Death& death) const;
  Role JudgeGradient(const Birth& birth, const Death& death) const;
  Role JudgeStart(Phase phase, Role clue) const;

  StackReader stacks_;
  const SnapshotRecords& records_;
  const std::vector<SnapshotStart>& starts_;
  RoleGuesses& guesses_;
  PhaseReader phases_{false, false};
  Phase phase_ = Phase::kOther;
  uint32_t phase_run_ = 0;
  uint32_t step_ = 0;
  bool ends_failing_ = false;  // the latest request was refused
  uint32_t failures_ = 0;
  bool has_python_ = false;
  absl::flat_hash_set<uint64_t> parameter_sizes_;
  Lives lives_;
  size_t index_ = 0;  // of the entry that is read, on its device
  StackClues clues_;  // likewise
  // Blocks that calls of modules made in this stay in forward, and that the program freed.
  std::vector<EntryOrder::Place> left_behind_;
  // The address of the latest block that an update made, by device and size.
  absl::flat_hash_map<std::pair<int32_t, uint64_t>, uint64_t> latest_update_;
};

void RoleGuesses::Reading::Run() {
  Survey();
  const bool from_start = std::all_of(starts_.begin(), starts_.end(),
                                      [](const SnapshotStart& start) { return start.is_empty(); });
  phases_ = PhaseReader(from_start, has_python_);
  EntryOrder order(records_);
  while (const auto place = order.Next()) ReadEntry(place->device, place->index);
  EndForward(false);
  for (const auto& [device, living] : lives_.cards()) {
    std::vector<Entry>& entries = guesses_.entries_[static_cast<size_t>(device)];
    living.ForEach([&](const Lives::Life& life) {
      if (!life.waiting) entries[life.block.index].role = Judge(life.block, {});
    });
  }
  ReadStarts();
}

// Collects what the whole file tells: whether stacks name phases, which files have modules.
void RoleGuesses::Reading::Survey() {
  const auto note = [this](PickleValue frames) {
    const StackClues& clues = stacks_.Read(frames);
    has_python_ = has_python_ || clues.has_python;
    guesses_.has_phases_ = guesses_.has_phases_ || clues.phase.has_value();
  };
  for (size_t device = 0; device < records_.devices.size(); ++device) {
    const std::vector<SnapshotEntry>& trace = records_.devices[device].trace;
    guesses_.entries_[device].resize(trace.size());
    for (const SnapshotEntry& entry : trace) {
      if (entry.action == SnapshotAction::kAllocate) note(entry.frames);
    }
    for (const auto& [address, block] : starts_[device].blocks()) note(block.frames);
  }
}

void RoleGuesses::Reading::ReadStarts() {
  for (size_t device = 0; device < starts_.size(); ++device) {
    for (const auto& [address, block] : starts_[device].blocks()) {
      const StackClues& clues = stacks_.Read(block.frames);
      const Phase phase = clues.phase.value_or(Phase::kOther);
      const Role role = JudgeStart(phase, stacks_.RoleOf(clues));
      if (phase != Phase::kOther || role != Role::kUnknown)
        guesses_.starts_[device][address] = {phase, role};
    }
  }
}

void RoleGuesses::Reading::ReadEntry(size_t device, size_t index) {
  const SnapshotEntry& entry = records_.devices[device].trace[index];
  const auto card = static_cast<int32_t>(device);
  index_ = index;
  clues_ = stacks_.Read(entry.frames);
  switch (entry.action) {
    case SnapshotAction::kAllocate:
      phases_.Allocated(clues_);
      NotePhase(device, index);
      ends_failing_ = false;
      return Follow(
          trace::Allocate{.device = card, .address = entry.address, .requested = entry.size});
    case SnapshotAction::kFreeRequested:
      phases_.Freed(clues_);
      NotePhase(device, index);
      return Follow(trace::FreeRequested{card, entry.address});
    case SnapshotAction::kFreeCompleted:
      phases_.Freed(clues_);
      NotePhase(device, index);
      return Follow(trace::FreeCompleted{card, entry.address});
    case SnapshotAction::kOutOfMemory:
      phases_.Allocated(clues_);
      ends_failing_ = true;
      ++failures_;
      break;
    case SnapshotAction::kMap:
    case SnapshotAction::kUnmap:
      break;
  }
  NotePhase(device, index);
}

void RoleGuesses::Reading::NotePhase(size_t device, size_t index) {
  if (!guesses_.has_phases_) return;
  if (phases_.phase() != phase_) {
    EndForward(phases_.in_backward());
    phase_ = phases_.phase();
    ++phase_run_;
  }
  Entry& entry = guesses_.entries_[device][index];
  entry.phase = phase_;
  entry.begins_step = phases_.step() != step_;
  step_ = phases_.step();
}

void RoleGuesses::Reading::Apply(const Lives::Born& born) {
  const trace::Allocate& allocation = born.allocation;
  const Role clue = stacks_.RoleOf(clues_);
  if (clue == Role::kParameter) parameter_sizes_.insert(allocation.requested);
  born.block = {.size = allocation.requested,
                .index = static_cast<uint32_t>(index_),
                .clue = clue,
                .has_native = clues_.has_native,
                .phase = phase_,
                .phase_run = phase_run_,
                .pass = phases_.pass(),
                .failures = failures_,
                .in_module_call = clues_.in_module_call};
  if (phase_ == Phase::kOptimizer)
    latest_update_[{allocation.device, allocation.requested}] = allocation.address;
}

// If the free was lost, its stack is not known.
void RoleGuesses::Reading::Apply(const Lives::LetGo& let_go) {
  const StackClues clues = let_go.by == analysis::FreeBy::kReuse ? StackClues() : clues_;
  const auto device = static_cast<size_t>(let_go.device);
  const Birth& freed = let_go.block;
  guesses_.entries_[device][freed.index].role = Judge(freed, {.gone = true, .clues = clues});
  if (freed.phase == Phase::kForward && freed.phase_run == phase_run_ && freed.in_module_call &&
      clues.is_of_program && !clues.in_module_call)
    left_behind_.push_back({device, freed.index});
  if (freed.clue == Role::kParameter && phase_ == Phase::kOptimizer)
    NoteReplacement(let_go.device, freed);
}

// After `p.data = p.data - update`, the new block is a parameter from the moment when the old one
// goes.
void RoleGuesses::Reading::NoteReplacement(int32_t device, const Birth& freed) {
  const auto latest = latest_update_.find({device, freed.size});
  if (latest == latest_update_.end()) return;
  Lives::Life* life = lives_.card(device).At(latest->second);
  if (life == nullptr || life->waiting || life->block.phase_run != phase_run_) return;
  if (life->block.size == freed.size) life->block.clue = Role::kParameter;
}

Role RoleGuesses::Reading::Judge(const Birth& birth, const Death& death) const {
  const bool stayed = birth.phase_run == phase_run_;
  switch (birth.clue) {
    case Role::kWorkspace:
    case Role::kKvCache:
      return birth.clue;
    case Role::kParameter:
    case Role::kOptimizerState:
      if (!death.gone || !stayed) return birth.clue;
      break;
    default:
      break;
  }
  if (has_python_ && !death.gone && !birth.has_native && birth.size == kDefaultWorkspace)
    return Role::kWorkspace;
  // A refused request leaves the call, and with it goes all that was kept for a backward.
  if (birth.phase == Phase::kForward && death.gone && stayed && birth.failures != failures_)
    return Role::kActivation;
  if (birth.phase == Phase::kBackward) return JudgeGradient(birth, death);
  // Nothing follows the update, so no change of phase can tell what it left behind from what it
  // needs for a moment; but it has ended.
  if (birth.phase == Phase::kOptimizer && !death.gone && stayed && !ends_failing_)
    return Role::kOptimizerState;
  return Role::kUnknown;
}

// A call's remains are kept for a backward, even if none comes. If one does, the blocks that were
// freed before it were not kept for it.
void RoleGuesses::Reading::EndForward(bool backward_follows) {
  for (const EntryOrder::Place& place : left_behind_) {
    Role& role = guesses_.entries_[place.device][place.index].role;
    if (!backward_follows && role == Role::kUnknown) role = Role::kActivation;
  }
  left_behind_.clear();
}

// Judges what a backward leaves behind. If the trace ends within it, only sizes of parameters can
// tell.
Role RoleGuesses::Reading::JudgeGradient(const Birth& birth, const Death& death) const {
  if (death.clues.clears_gradients || birth.pass != phases_.pass()) return Role::kGradient;
  return !death.gone && parameter_sizes_.contains(birth.size) ? Role::kGradient : Role::kUnknown;
}

// The block lived through the whole trace; only blocks that exist at the end have a stack.
Role RoleGuesses::Reading::JudgeStart(Phase phase, Role clue) const {
  if (clue != Role::kUnknown || phase != Phase::kBackward) return clue;
  const bool is_over = phases_.pass() > 0 || !phases_.in_backward();
  return is_over ? Role::kGradient : Role::kUnknown;
}

RoleGuesses::RoleGuesses(const PickleTree& tree, const SnapshotRecords& records,
                         const std::vector<SnapshotStart>& starts)
    : entries_(records.devices.size()), starts_(records.devices.size()) {
  Reading(tree, records, starts, *this).Run();
}

RoleGuesses::Start RoleGuesses::start(size_t device, uint64_t address) const {
  const auto found = starts_[device].find(address);
  return found == starts_[device].end() ? Start() : found->second;
}

}  // namespace memtrace::interchange
