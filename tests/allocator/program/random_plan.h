// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_PROGRAM_RANDOM_PLAN_H_
#define MEMTRACE_TESTS_ALLOCATOR_PROGRAM_RANDOM_PLAN_H_

#include <cstdint>
#include <functional>

#include "allocator/plan/plan.h"
#include "tests/allocator/program/allocator_program.h"

namespace memtrace::program {

// Returns places for the large requests of a program's streams, in their order. Each is right with
// a probability of `truth` / 10, otherwise for another size. Places overlap. `below(n)` returns one
// of [0, n).
Plan MakePlan(const Program& program, uint64_t truth,
              const std::function<uint64_t(uint64_t)>& below);

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_PROGRAM_RANDOM_PLAN_H_
