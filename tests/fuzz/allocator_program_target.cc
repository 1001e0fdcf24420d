// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>

#include "tests/allocator/program/allocator_program.h"
#include "tests/allocator/program/random_plan.h"
#include "tests/fuzz/targets.h"

namespace memtrace::fuzz {
namespace {

constexpr size_t kMostInstructions = 2000;

// Reads the program's random numbers from the input; zeros after its end.
class Numbers {
 public:
  explicit Numbers(std::string_view bytes) : bytes_(bytes) {}
  bool done() const { return bytes_.empty(); }
  uint64_t Below(uint64_t n) {
    if (n < 2) return 0;  // only one choice
    uint64_t value = 0;
    for (int i = 0; i < 4 && !bytes_.empty(); ++i) {
      if (n >> (8 * i) == 0) break;  // the number needs no more bytes
      value |= uint64_t{static_cast<uint8_t>(bytes_.front())} << (8 * i);
      bytes_.remove_prefix(1);
    }
    return value % n;
  }

 private:
  std::string_view bytes_;
};

using Make = program::Instruction (*)(const std::function<uint64_t(uint64_t)>& below);

program::Program ProgramOf(Numbers& numbers, Make make) {
  program::Program program;
  while (!numbers.done() && program.size() < kMostInstructions)
    program.push_back(make([&numbers](uint64_t n) { return numbers.Below(n); }));
  return program;
}

void Run(const program::Program& program, const Plan& plan) {
  const auto shared = std::make_shared<const Plan>(plan);
  const auto problem = program::FirstProblem(program, {.plan = shared});
  if (!problem.has_value()) return;
  std::fprintf(stderr, "%s\n%s\n%s\n", problem->c_str(), program::Print(program).c_str(),
               plan.Text().c_str());
  std::abort();
}

}  // namespace

void AllocatorProgram(std::string_view bytes) {
  Numbers numbers(bytes);
  Run(ProgramOf(numbers, program::MakeInstruction), {});
}

void MovingProgram(std::string_view bytes) {
  Numbers numbers(bytes);
  Run(ProgramOf(numbers, program::MakeMovingInstruction), {});
}

void PlannedProgram(std::string_view bytes) {
  Numbers numbers(bytes.substr(0, bytes.size() / 4));  // for the plan
  Numbers others(bytes.substr(bytes.size() / 4));
  const program::Program program = ProgramOf(others, program::MakeInstruction);
  const uint64_t truth = numbers.Below(11);
  Run(program,
      program::MakePlan(program, truth, [&numbers](uint64_t n) { return numbers.Below(n); }));
}

}  // namespace memtrace::fuzz
