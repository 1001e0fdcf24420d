// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_ROOM_VICTIMS_H_
#define MEMTRACE_INTERPOSE_CORE_ROOM_VICTIMS_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/heap/spill.h"
#include "profiler/recorder/accounts/live_table.h"
#include "profiler/trace/events/event.h"

namespace memtrace {

// Blocks of a class are all of one role, or all of one owner.
struct VictimKind {
  trace::Role role = trace::Role::kUnknown;
  trace::StringId owner =
      0;                   // of memory that may move because of its owner; 0: because of its role
  bool is_unused = false;  // no operation used it in this step and the one before
  friend auto operator<=>(const VictimKind&, const VictimKind&) = default;
};

// Blocks that may move to the host, in classes of one kind each, the coldest first.
struct VictimClasses {
  Spill::Victims blocks;
  std::vector<VictimKind> kinds;  // of each class
};

// Memory of models that are idle: the blocks of each, the coldest model first.
using IdleModels = std::vector<std::vector<DeviceAddress>>;

// Returns which of the blocks in use contain at least one of the addresses, in ascending order.
std::vector<DeviceAddress> BlocksThatContain(std::span<const recorder::PlacedBlock> blocks,
                                             std::vector<DeviceAddress> addresses);

// Chooses among the blocks in use of a card, in this order:
//
// - if `step`: blocks of any role that were neither allocated nor used in this step and the one
//   before, except workspaces and memory for communication: those last used in the oldest step
//   first
// - idle models
// - idle owners without a model, such as caches of keys and values: the owner first that requested
//   (with `step`: used) its latest such block first
// - outside the optimizer: states of optimizers, then activations, those first that were allocated
//   (with `step`: used) least recently: a backward pass reaches those last
// - in the optimizer: activations, then states of optimizers, then gradients
// - other owners without a model
//
// `movable` are the blocks of movable owners, ascending. What they have of no known role, of role
// kv_cache or checkpoint belongs to no model. Such an owner is not idle while the program generates
// or evaluates, and while it also has parameters of a model that is not idle.
//
// Other parameters, inputs, temporary memory, workspaces and memory for communication stay. A role
// that nobody stated is guessed as in texts (LikelyRole).
//
// `step` is that of the program, if the last uses of the blocks are known; then they, and no guess,
// decide if an owner without a model is idle. A block that a captured graph uses is always in use.
VictimClasses ChooseVictims(std::span<const recorder::PlacedBlock> blocks, trace::Phase now,
                            const IdleModels& idle = {},
                            std::span<const DeviceAddress> movable = {},
                            std::optional<uint64_t> step = std::nullopt);

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_ROOM_VICTIMS_H_
