// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_PROGRAM_ALLOCATOR_PROGRAM_H_
#define MEMTRACE_TESTS_ALLOCATOR_PROGRAM_ALLOCATOR_PROGRAM_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "allocator/plan/plan.h"
#include "tests/allocator/program/instruction.h"

// Programs of printable instructions for an allocator on a card of 128 MiB, and a naive model that
// predicts their results. Random tests and the fuzzer generate them.
namespace memtrace::program {

// How a program is run.
struct Way {
  bool is_observed = true;          // otherwise streams are served under locks of their own
  bool reuses_in_captures = false;  // SetCaptureReuse()
  bool keeps_contents = false;      // of all blocks; otherwise of movable ones alone
  std::shared_ptr<const Plan> plan = nullptr;
  size_t check_every = 1;  // check invariants and sums after so many instructions, and at the end
};

// Runs a program on a new card. Returns the first problem, if there is one: a result that differs
// from the model's blocks in use or unfinished work on addresses. Broken invariants end the
// process.
std::optional<std::string> FirstProblem(const Program& program, const Way& way = {});

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_PROGRAM_ALLOCATOR_PROGRAM_H_
