// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_PROGRAM_SPILL_MODEL_H_
#define MEMTRACE_TESTS_ALLOCATOR_PROGRAM_SPILL_MODEL_H_

#include <set>

#include "tests/allocator/program/instruction.h"
#include "tests/allocator/program/program_card.h"
#include "tests/allocator/program/sleep_model.h"

namespace memtrace::program {

// Moves blocks in use to the host and back, and compares which have moved and what they contain.
class SpillModel {
 public:
  // All must outlive this.
  SpillModel(ProgramCard& card, Problem& problem, const SleepModel& sleep)
      : card_(card), problem_(problem), sleep_(sleep) {}

  void Perform(const MoveToHost& i, const InUseBlocks& in_use, bool is_any_captured);
  void Perform(const EndStep& i, const InUseBlocks& in_use);

  // Looks anew at what is on the host: a sleep takes it away.
  void FindOnHost(const InUseBlocks& in_use);

  // True if the host has a part of the block in use.
  bool IsOnHost(DeviceAddress address) const { return on_host_.contains(address); }
  // True if blocks of which memory may move may have none, and count as on the host: the driver has
  // refused a call, and then also to undo what was done.
  bool is_torn() const { return card_.allocator.movement().spill().is_torn(); }
  // True if a program may touch the block.
  bool HasMemory(const InUse& block) const { return !is_torn() || !MayMove(block); }

 private:
  // Small requests may be served from large memory.
  bool MayMove(const InUse& block) const {
    return block.pool == 0 && !sleep_.IsAsleep(block.owner);
  }
  void CheckContents(const InUseBlocks& in_use);

  ProgramCard& card_;
  Problem& problem_;
  const SleepModel& sleep_;
  std::set<DeviceAddress> on_host_;  // changes only when memory moves
};

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_PROGRAM_SPILL_MODEL_H_
