// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Random programs against a naive model, 10^7 instructions in all (10^6 under a sanitizer). Each
// program is made from its seed; one that fails is shrunk before it is printed.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <random>

#include "tests/allocator/allocator_program.h"

namespace memtrace::program {
namespace {

Program RandomProgram(uint64_t seed, size_t length) {
  std::mt19937_64 random(seed);
  Program program;
  while (program.size() < length) {
    program.push_back(MakeInstruction([&](uint64_t n) { return random() % n; }));
  }
  return program;
}

// Drops ever smaller pieces of a failing program while it still fails.
Program Shrink(Program program, const Plan& plan) {
  for (size_t piece = program.size() / 2; piece > 0; piece /= 2) {
    for (size_t at = 0; at + piece <= program.size();) {
      Program shorter = program;
      const auto begin = shorter.begin() + static_cast<std::ptrdiff_t>(at);
      shorter.erase(begin, begin + static_cast<std::ptrdiff_t>(piece));
      if (FirstProblem(shorter, plan).has_value()) {
        program = std::move(shorter);
      } else {
        at += piece;
      }
    }
  }
  return program;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kPrograms = 400;
#else
constexpr uint64_t kPrograms = 4000;
#endif

// A CHECK aborts: say which program it was.
volatile uint64_t current_seed = 0;
extern "C" void PrintSeed(int) { std::fprintf(stderr, "seed %lu\n", current_seed); }

constexpr size_t kLength = 2500;

// Runs the seed's program; one that fails is shrunk, for the plan it failed with.
void RunProgram(uint64_t seed, const Program& program, const Plan& plan) {
  current_seed = seed;
  const auto problem = FirstProblem(program, plan);
  if (!problem.has_value()) return;
  const Program shortest = Shrink(program, plan);
  FAIL() << "seed " << seed << ": " << *problem << "\nshrunk to " << shortest.size()
         << " instructions: " << FirstProblem(shortest, plan).value_or("") << "\n"
         << Print(shortest) << "\n"
         << plan.Text();
}

TEST(CachingAllocatorProgramTest, RandomProgramsAgreeWithTheNaiveModel) {
  std::signal(SIGABRT, PrintSeed);
  for (uint64_t seed = 1; seed <= kPrograms && !HasFailure(); ++seed) {
    RunProgram(seed, RandomProgram(seed, kLength), {});
  }
}

// Plans that are right, half right and wrong.
TEST(CachingAllocatorProgramTest, PlansHarmNothing) {
  std::signal(SIGABRT, PrintSeed);
  for (uint64_t seed = 1; seed <= kPrograms / 4 && !HasFailure(); ++seed) {
    const Program program = RandomProgram(seed, kLength);
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    RunProgram(seed, program, MakePlan(program, seed % 3 * 5, below));
  }
}

}  // namespace
}  // namespace memtrace::program
