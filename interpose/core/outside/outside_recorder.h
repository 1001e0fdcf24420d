// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#ifndef MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_RECORDER_H_
#define MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_RECORDER_H_

#include <vector>

#include "interpose/core/outside/observed_memory.h"
#include "interpose/core/outside/outside_memory.h"
#include "profiler/recorder/program_recorder.h"

namespace memtrace {

// Writes down what the program takes from the driver itself. In a process without a caching
// allocator that is all there is: cards' memory counts as blocks of an allocator that caches
// nothing, so every report is about it. Beside an allocator it has events of its own, as the
// host's memory always has.
//
// Thread rule: as OutsideListener.
class OutsideRecorder final : public OutsideListener {
 public:
  // `alone`: the cards' figures, by ordinal, if there is no caching allocator; else empty. All
  // outlive this.
  OutsideRecorder(recorder::ProgramRecorder& recorder, std::vector<ObservedMemory*> alone)
      : recorder_(recorder), alone_(std::move(alone)) {}

  void Taken(const OutsideBlock& block) override;
  void GivenBack(const OutsideBlock& block) override;

 private:
  ObservedMemory* Alone(const OutsideBlock& block) const;

  recorder::ProgramRecorder& recorder_;
  const std::vector<ObservedMemory*> alone_;
};

}  // namespace memtrace

#endif  // MEMTRACE_INTERPOSE_CORE_OUTSIDE_OUTSIDE_RECORDER_H_
