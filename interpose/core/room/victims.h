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

// Memory of models that are idle: the blocks of each, the coldest model first.
using IdleModels = std::vector<std::vector<DeviceAddress>>;

// Returns which of the blocks in use contain at least one of the addresses, in ascending order.
std::vector<DeviceAddress> BlocksThatContain(std::span<const recorder::PlacedBlock> blocks,
                                             std::vector<DeviceAddress> addresses);

// Chooses among the blocks in use of a card, in this order:
//
//   idle models
//   outside the optimizer: states of optimizers, then activations, the oldest first: a backward
//   pass reaches those last
//   in the optimizer: activations, then states of optimizers, then gradients
//
// Other parameters, inputs, temporary memory, workspaces and memory for communication stay. A role
// that nobody stated is guessed as in texts (LikelyRole).
VictimClasses ChooseVictims(std::span<const recorder::PlacedBlock> blocks, trace::Phase now,
                            const IdleModels& idle = {});

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_VICTIMS_H_
