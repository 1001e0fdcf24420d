// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_PROGRAM_SLEEP_MODEL_H_
#define MEMTRACE_TESTS_ALLOCATOR_PROGRAM_SLEEP_MODEL_H_

#include <cstdint>
#include <map>

#include "tests/allocator/program/instruction.h"
#include "tests/allocator/program/program_card.h"

namespace memtrace::program {

// The owners whose memory sleeps, and what their blocks will contain.
class SleepModel {
 public:
  // Both must outlive this.
  SleepModel(ProgramCard& card, Problem& problem) : card_(card), problem_(problem) {}

  void Perform(const PutToSleep& i, bool is_any_captured);
  // Compares the contents of the owner's blocks.
  void Perform(const Wake& i, InUseBlocks& in_use);

  bool IsAsleep(uint32_t owner) const { return asleep_.contains(owner); }
  bool is_any_asleep() const { return !asleep_.empty(); }

 private:
  bool IsReallyAsleep(uint32_t owner);
  void CheckContents(uint32_t owner, bool is_kept, InUseBlocks& in_use);

  ProgramCard& card_;
  Problem& problem_;
  std::map<uint32_t, bool> asleep_;  // by owner; true if the contents are kept
};

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_PROGRAM_SLEEP_MODEL_H_
