// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Random programs against a naive model, 10^7 instructions in total (10^6 under a sanitizer). Each
// program is generated from its seed (odd ones run unobserved); one that fails is shrunk before it
// is printed.
//
// MEMTRACE_PROGRAMS=FIRST,PROGRAMS,LENGTH,EVERY runs others: PROGRAMS seeds from FIRST on, LENGTH
// instructions each, checked after every EVERY instructions.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tests/allocator/program/allocator_program.h"
#include "tests/allocator/program/random_plan.h"

namespace memtrace::program {
namespace {

using Make = Instruction (*)(const std::function<uint64_t(uint64_t)>& below);

Program RandomProgram(uint64_t seed, size_t length, Make make) {
  std::mt19937_64 random(seed);
  Program program;
  while (program.size() < length) {
    program.push_back(make([&](uint64_t n) { return random() % n; }));
  }
  return program;
}

// Drops smaller and smaller pieces of a failing program while it still fails.
Program Shrink(Program program, const Way& way) {
  for (size_t piece = program.size() / 2; piece > 0; piece /= 2) {
    for (size_t at = 0; at + piece <= program.size();) {
      Program shorter = program;
      const auto begin = shorter.begin() + static_cast<std::ptrdiff_t>(at);
      shorter.erase(begin, begin + static_cast<std::ptrdiff_t>(piece));
      if (FirstProblem(shorter, way).has_value()) {
        program = std::move(shorter);
      } else {
        at += piece;
      }
    }
  }
  return program;
}

// Our sanitized builds use clang, which reports them as features; they take forty times as long.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MEMTRACE_TEST_IS_SLOW
#endif
#endif
#ifdef MEMTRACE_TEST_IS_SLOW
constexpr uint64_t kPrograms = 100;
#else
constexpr uint64_t kPrograms = 1000;
#endif

struct Extent {
  uint64_t first = 1;
  uint64_t programs = kPrograms;
  size_t length = 2500;
  size_t check_every = 1;
};

Extent Wanted() {
  Extent wanted;
  const char* text = std::getenv("MEMTRACE_PROGRAMS");
  if (text == nullptr) return wanted;
  const std::vector<std::string> parts = absl::StrSplit(text, ',');
  const bool is_read = parts.size() == 4 && absl::SimpleAtoi(parts[0], &wanted.first) &&
                       absl::SimpleAtoi(parts[1], &wanted.programs) &&
                       absl::SimpleAtoi(parts[2], &wanted.length) &&
                       absl::SimpleAtoi(parts[3], &wanted.check_every) && wanted.check_every > 0;
  EXPECT_TRUE(is_read) << "MEMTRACE_PROGRAMS=" << text << ": FIRST,PROGRAMS,LENGTH,EVERY is wanted";
  return wanted;
}

// A failed CHECK aborts, so the seed of its program is printed first.
volatile uint64_t current_seed = 0;
extern "C" void PrintSeed(int) { std::fprintf(stderr, "seed %lu\n", current_seed); }

// Runs the seed's program; if it fails, shrinks it with the plan with which it failed.
void RunProgram(uint64_t seed, const Program& program, const Way& way) {
  const auto problem = FirstProblem(program, way);
  if (!problem.has_value()) return;
  const Program shortest = Shrink(program, way);
  FAIL() << "seed " << seed << ": " << *problem << "\nshrunk to " << shortest.size()
         << " instructions: " << FirstProblem(shortest, way).value_or("") << "\n"
         << Print(shortest) << "\n"
         << (way.plan == nullptr ? "" : way.plan->Text());
}

// Runs one of `share` programs; `complete_way` sets further options.
template <typename CompleteWay>
void RunPrograms(uint64_t share, Make make, CompleteWay complete_way) {
  const Extent wanted = Wanted();
  std::signal(SIGABRT, PrintSeed);
  for (uint64_t i = 0; i < wanted.programs / share && !testing::Test::HasFailure(); ++i) {
    const uint64_t seed = wanted.first + i;
    current_seed = seed;
    const Program program = RandomProgram(seed, wanted.length, make);
    Way way;
    way.is_observed = seed % 2 == 0;
    way.check_every = wanted.check_every;
    complete_way(seed, program, way);
    RunProgram(seed, program, way);
  }
}

TEST(CachingAllocatorProgramTest, RandomProgramsAgreeWithTheNaiveModel) {
  RunPrograms(1, MakeInstruction, [](uint64_t, const Program&, Way&) {});
}

// Tests plans that are right, half right and wrong.
TEST(CachingAllocatorProgramTest, AnyPlanGivesTheResultsOfTheModel) {
  RunPrograms(4, MakeInstruction, [](uint64_t seed, const Program& program, Way& way) {
    std::mt19937_64 random(seed);
    const auto below = [&](uint64_t n) { return random() % n; };
    way.plan = std::make_shared<const Plan>(MakePlan(program, seed % 3 * 5, below));
  });
}

// Tests captures of several streams whose memory is reused within them.
TEST(CachingAllocatorProgramTest, CapturesReuseOnlyMemoryOrderedByTheirGraphs) {
  RunPrograms(4, MakeCaptureInstruction,
              [](uint64_t, const Program&, Way& way) { way.reuses_in_captures = true; });
}

// Tests owners whose memory sleeps and wakes, also beside graphs that use it; graphs that take
// turns; free memory that gives way; and memory that moves to the host and comes back.
TEST(CachingAllocatorProgramTest, MemoryThatMovesIsThereWhenItIsUsed) {
  RunPrograms(10, MakeMovingInstruction,
              [](uint64_t, const Program&, Way& way) { way.keeps_contents = true; });
}

// Tests large blocks in use that move to the host and come back, with calls that fail.
TEST(CachingAllocatorProgramTest, MemoryOnTheHostKeepsItsContentsAndAddresses) {
  RunPrograms(10, MakeSpillingInstruction,
              [](uint64_t, const Program&, Way& way) { way.keeps_contents = true; });
}

}  // namespace
}  // namespace memtrace::program
