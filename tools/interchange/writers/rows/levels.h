// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_LEVELS_H_
#define MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_LEVELS_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analysis/replayed/block_walk.h"
#include "tools/interchange/writers/rows/exported_run.h"

namespace memtrace::interchange {

// The quantity that a counter of a timeline counts, on one card.
enum class LevelKind : uint8_t { kReserved, kLive, kRole, kOwner };

struct Level {
  int32_t device = 0;
  LevelKind kind = LevelKind::kLive;
  uint32_t key = 0;  // a Role or a StringId
  uint64_t bytes = 0;
};

// Live requested bytes by card, role and owner, and reserved bytes, as the trace goes on. A block
// counts until its free is requested, with the role and owner that it turned out to have.
class Levels {
 public:
  explicit Levels(const ExportedRun& run) : run_(run) {}

  void Apply(const trace::Event& event);

  // The places in levels() that the event applied last changed; a new one is at the end.
  const std::vector<size_t>& changed() const { return changed_; }
  const std::vector<Level>& levels() const { return levels_; }
  uint64_t Bytes(int32_t device, LevelKind kind) const;
  const BlockWalk& walk() const { return walk_; }

  // Returns "activation", "policy", "(no owner)", "live" or "reserved", for example.
  std::string NameOf(const Level& level) const;

 private:
  void Apply(const trace::Allocate& /*allocation*/) { Count(*walk_.block(), true); }
  void Apply(const trace::Alive& alive) {
    if (alive.waiting == 0) Count(*walk_.block(), true);
  }
  void Apply(const trace::Map& map) { Change(map.device, LevelKind::kReserved, 0, map.size, true); }
  void Apply(const trace::Unmap& unmap) {
    Change(unmap.device, LevelKind::kReserved, 0, unmap.size, false);
  }
  // Ignores events that change nothing here.
  template <trace::OneOf<trace::FreeRequested, trace::FreeCompleted, trace::Reserve, trace::Relabel,
                         trace::Step, trace::PhaseChange, trace::TagChange, trace::Annotate,
                         trace::OutOfMemory, trace::CardSample, trace::Lost, trace::OutsideAllocate,
                         trace::OutsideFree, trace::Resume, trace::Activity, trace::Moved>
                Ignored>
  void Apply(const Ignored&) {}

  void Count(const WalkedBlock& block, bool born);
  void Change(int32_t device, LevelKind kind, uint32_t key, uint64_t bytes, bool more);

  const ExportedRun& run_;
  BlockWalk walk_;
  std::vector<Level> levels_;
  absl::flat_hash_map<std::tuple<int32_t, LevelKind, uint32_t>, size_t> places_;
  std::vector<size_t> changed_;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_WRITERS_ROWS_LEVELS_H_
