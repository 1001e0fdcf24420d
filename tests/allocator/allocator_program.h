// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_ALLOCATOR_PROGRAM_H_
#define MEMTRACE_TESTS_ALLOCATOR_ALLOCATOR_PROGRAM_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "allocator/plan/plan.h"
#include "tests/allocator/instruction.h"

// Programs of printable instructions for an allocator on a card of 128 MiB, and a naive model that
// says what must come of them. Random tests and the fuzzer make them up.
namespace memtrace::program {

// How a program is run.
struct Way {
  bool is_observed = true;          // else streams are served under locks of their own
  bool reuses_in_captures = false;  // SetCaptureReuse()
  std::shared_ptr<const Plan> plan = nullptr;
  size_t check_every = 1;  // so many instructions, and at the end: invariants and sums
};

// Runs a program on a new card. The first thing that is wrong, if any: an answer that differs from
// the model's of what is in use and which work on which addresses is unfinished. Broken invariants
// end the process.
std::optional<std::string> FirstProblem(const Program& program, const Way& way = {});

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_ALLOCATOR_PROGRAM_H_
