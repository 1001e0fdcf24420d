// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_TESTS_PROFILER_RECORDER_RANDOM_RUN_H_
#define MEMTRACE_TESTS_PROFILER_RECORDER_RANDOM_RUN_H_

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "tests/profiler/recorder/recorder_fixture.h"
#include "tools/command/inputs/trace_input.h"

namespace memtrace::recorder {

// A program of two cards that uses every function of a recorder: steps, phases, owners, labels of
// blocks and of parts, waiting frees, segments, out-of-memory. Equal seeds make equal calls to any
// recorder.
class RandomRun {
 public:
  RandomRun(Recorder& recorder, uint64_t seed) : recorder_(recorder), random_(seed) {}

  void Do(size_t actions);

 private:
  void Allocate();
  void Free();
  void Complete();
  void Label();
  void Range();
  void Fail();
  BlockEvent Block(size_t slot, Bytes requested) const;

  Recorder& recorder_;
  std::mt19937_64 random_;
  std::map<size_t, Bytes> live_;  // requested, by slot
  std::map<size_t, Bytes> waiting_;
  std::map<size_t, bool> mapped_;
};

// Returns the trace at `path`, as the analysis reads it.
command::TraceInput InputOf(const std::string& path);

}  // namespace memtrace::recorder

#endif  // MEMTRACE_TESTS_PROFILER_RECORDER_RANDOM_RUN_H_
