// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_RECORDER_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_RECORDER_H_

#include <vector>

#include "interpose/core/outside/observed_memory.h"
#include "interpose/core/outside/outside_memory.h"
#include "profiler/recorder/program_recorder.h"

namespace memtrace {

// Records what the program takes from the driver itself. In a process without a caching allocator,
// memory of cards counts as blocks of an allocator that caches nothing, so every report covers it.
// Beside an allocator, it has events of its own, as host memory always has.
//
// Thread rule: the same as OutsideListener's.
class OutsideRecorder final : public OutsideListener {
 public:
  // `alone` holds the cards' figures, by ordinal, if there is no caching allocator; else it is
  // empty. All arguments must outlive this.
  OutsideRecorder(recorder::ProgramRecorder& recorder, std::vector<ObservedMemory*> alone)
      : recorder_(recorder), alone_(std::move(alone)) {}

  void Taken(const OutsideBlock& block) override;
  void GivenBack(const OutsideBlock& block) override;

 private:
  ObservedMemory* TraceSubject(const OutsideBlock& block) const;

  recorder::ProgramRecorder& recorder_;
  const std::vector<ObservedMemory*> alone_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_RECORDER_H_
