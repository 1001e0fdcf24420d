// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_ALLOCATOR_PROGRAM_H_
#define MEMTRACE_TESTS_ALLOCATOR_ALLOCATOR_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "allocator/call_failures.h"
#include "allocator/plan.h"
#include "allocator/units.h"

// Programs of printable instructions for an allocator on a card of 128 MiB, and a naive model that
// says what must come of them. Random tests and the fuzzer make them up.
namespace memtrace::program {

struct Allocate {
  Bytes bytes;
  StreamId stream;
};
struct Free {
  size_t index;  // of the blocks in use, modulo their number
};
struct Share {
  size_t index;
  StreamId stream;
};
struct Finish {
  StreamId stream;
};
struct EmptyCache {};
struct SetLimit {
  Bytes limit;
};
struct Fail {
  uint64_t nth;
  CallFailures::Repeat repeat;
};
struct StopFailing {};
// A graph is captured from `stream` into pool `pool`, unless one or the other is taken; what is
// allocated on the stream until EndCapture is the graph's to write to at each Replay.
struct BeginCapture {
  uint64_t pool;
  StreamId stream;
};
struct EndCapture {
  uint64_t pool;
};
struct Replay {
  uint64_t pool;
};
struct ReleaseGraph {
  uint64_t pool;
};
struct Checkpoint {
  uint64_t pool;
};
struct Restore {
  uint64_t pool;
};
using Instruction =
    std::variant<Allocate, Free, Share, Finish, EmptyCache, SetLimit, Fail, StopFailing,
                 BeginCapture, EndCapture, Replay, ReleaseGraph, Checkpoint, Restore>;
using Program = std::vector<Instruction>;

// One line an instruction: "Allocate{512, 1}".
std::string Print(const Program& program);

// An instruction drawn from a source of numbers: `below(n)` gives one of [0, n).
Instruction MakeInstruction(const std::function<uint64_t(uint64_t)>& below);

// How a program is run.
struct Way {
  bool is_observed = true;  // else streams are served under locks of their own
  std::shared_ptr<const Plan> plan = nullptr;
  size_t check_every = 1;  // so many instructions, and at the end: invariants and sums
};

// Runs a program on a new card. The first thing that is wrong, if any: an answer that differs from
// the model's of what is in use and which work on which addresses is unfinished. Broken invariants
// end the process.
std::optional<std::string> FirstProblem(const Program& program, const Way& way = {});

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_ALLOCATOR_PROGRAM_H_
