// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_VICTIMS_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_VICTIMS_H_

#include <span>
#include <vector>

#include "allocator/heap/spill.h"
#include "profiler/recorder/accounts/live_table.h"
#include "profiler/trace/events/event.h"

namespace memtrace {

// Blocks that may move to the host, in classes of one role each, the coldest first.
struct VictimClasses {
  Spill::Victims blocks;
  std::vector<trace::Role> roles;  // of each class
};

// Chooses among the blocks in use of a card, in this order:
//
//   outside the optimizer: states of optimizers, then activations, the oldest first: a backward
//   pass reaches those last
//   in the optimizer: activations, then states of optimizers, then gradients
//
// Parameters, inputs, temporary memory, workspaces and memory for communication stay. A role that
// nobody stated is guessed as in texts (LikelyRole).
VictimClasses ChooseVictims(std::span<const recorder::PlacedBlock> blocks, trace::Phase now);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_VICTIMS_H_
