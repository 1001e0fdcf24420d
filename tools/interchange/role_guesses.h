// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TOOLS_INTERCHANGE_ROLE_GUESSES_H_
#define MEMTRACE_TOOLS_INTERCHANGE_ROLE_GUESSES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/trace/events/event.h"
#include "tools/interchange/pickle_tree.h"
#include "tools/interchange/snapshot_records.h"
#include "tools/interchange/snapshot_start.h"

namespace memtrace::interchange {

// Guesses what a program was doing and what its blocks were for, from the stacks in its snapshot
// and from how long blocks lived (docs/reference/interchange.md). A role is guessed only if the
// phases alone, by trace::InferRole, would not give it.
class RoleGuesses {
 public:
  struct Entry {
    trace::Phase phase = trace::Phase::kOther;
    trace::Role role = trace::Role::kUnknown;  // of the block that an allocation makes
    bool begins_step = false;
  };
  // The guess for a block that existed before the trace begins.
  struct Start {
    trace::Phase phase = trace::Phase::kOther;  // of its birth
    trace::Role role = trace::Role::kUnknown;
  };

  // `starts`: those of each device. Keeps no reference to the arguments.
  RoleGuesses(const PickleTree& tree, const SnapshotRecords& records,
              const std::vector<SnapshotStart>& starts);

  // True if any stack shows a phase; if not, all phases are kOther.
  bool has_phases() const { return has_phases_; }
  const Entry& entry(size_t device, size_t index) const { return entries_[device][index]; }
  Start start(size_t device, uint64_t address) const;

 private:
  class Reading;

  std::vector<std::vector<Entry>> entries_;                   // by device and index
  std::vector<absl::flat_hash_map<uint64_t, Start>> starts_;  // by device and address
  bool has_phases_ = false;
};

}  // namespace memtrace::interchange

#endif  // MEMTRACE_TOOLS_INTERCHANGE_ROLE_GUESSES_H_
