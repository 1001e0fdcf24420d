// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_ALLOCATOR_PROGRAM_INSTRUCTION_H_
#define MEMTRACE_TESTS_ALLOCATOR_PROGRAM_INSTRUCTION_H_

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "allocator/card/call_failures.h"
#include "base/units.h"

// The instructions of programs for an allocator.
namespace memtrace::program {

struct Allocate {
  Bytes bytes;
  StreamId stream;
  uint32_t owner = 0;  // a movable one if it is not 0
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
// Captures a graph from `stream` into pool `pool`, unless one of them is already in a capture. The
// graph writes to the blocks allocated on its streams until EndCapture at each Replay.
struct BeginCapture {
  uint64_t pool;
  StreamId stream;
};
// `stream` waits for the captured `other` and joins its capture, unless it is in another graph's.
struct JoinCapture {
  StreamId stream;
  StreamId other;
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
struct PutToSleep {
  uint32_t owner;
  bool is_kept;  // on the host
};
struct Wake {
  uint32_t owner;
};
// Another library, or another process, needs memory.
struct GiveWay {
  Bytes bytes;
  bool is_shortfall;
  bool continues;  // what work still uses goes on leaving
};
struct ContinueGiving {};
// The pools of the graphs take turns.
struct TakeTurns {};
// The card is full: some blocks in use may move to the host, those of the first half first.
struct MoveToHost {
  size_t first;  // of the blocks in use, modulo their number
  size_t count;
  Bytes wanted;
};
// A step ends: what is on the host comes back if there is room.
struct EndStep {};
using Instruction =
    std::variant<Allocate, Free, Share, Finish, EmptyCache, SetLimit, Fail, StopFailing,
                 BeginCapture, JoinCapture, EndCapture, Replay, ReleaseGraph, Checkpoint, Restore,
                 PutToSleep, Wake, GiveWay, ContinueGiving, TakeTurns, MoveToHost, EndStep>;
using Program = std::vector<Instruction>;

// Returns one line for each instruction: "Allocate{512, 1}".
std::string Print(const Program& program);

// Returns an instruction drawn from random numbers: `below(n)` returns one of [0, n).
Instruction MakeInstruction(const std::function<uint64_t(uint64_t)>& below);
// Does the same, with many captures of several streams.
Instruction MakeCaptureInstruction(const std::function<uint64_t(uint64_t)>& below);
// Does the same, with everything that moves memory: two movable owners sleep and wake, free memory
// gives way, graphs take turns, and memory moves to the host and comes back.
Instruction MakeMovingInstruction(const std::function<uint64_t(uint64_t)>& below);
// Does the same as MakeInstruction, with large blocks that move to the host and come back.
Instruction MakeSpillingInstruction(const std::function<uint64_t(uint64_t)>& below);

}  // namespace memtrace::program

#endif  // MEMTRACE_TESTS_ALLOCATOR_PROGRAM_INSTRUCTION_H_
