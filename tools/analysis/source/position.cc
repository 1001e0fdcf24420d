// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/analysis/source/position.h"

#include "profiler/trace/events/visit.h"

namespace memtrace::analysis {
namespace {

// Moves a position past an event.
class Follower {
 public:
  explicit Follower(Position& at) : at_(at) {}

  void operator()(const trace::Allocate& allocation) const {
    if (allocation.module != at_.module) ++at_.module_run;
    at_.module = allocation.module;
  }
  void operator()(const trace::Step& begun) const {
    at_.step = begun.number;
    at_.micro_batch = 0;
  }
  void operator()(const trace::PhaseChange& change) const {
    if (change.micro_batch != 0) at_.micro_batch = change.micro_batch;
    if (change.phase == at_.phase) return;
    at_.phase = change.phase;
    ++at_.phase_run;
    at_.forward_seen = at_.forward_seen || at_.phase == trace::Phase::kForward;
    at_.backward_seen = at_.backward_seen || at_.phase == trace::Phase::kBackward;
  }
  void operator()(const trace::Resume& resumed) const {
    at_.step = resumed.step;
    at_.phase = resumed.phase;
    ++at_.phase_run;
    at_.forward_seen = resumed.forward_seen != 0;
    at_.micro_batch = resumed.micro_batch;
  }
  // Ignores events that change nothing here.
  template <trace::OneOf<trace::FreeRequested, trace::FreeCompleted, trace::Reserve, trace::Map,
                         trace::Unmap, trace::Relabel, trace::TagChange, trace::Annotate,
                         trace::OutOfMemory, trace::CardSample, trace::Lost, trace::OutsideAllocate,
                         trace::OutsideFree, trace::Alive, trace::Activity, trace::Moved>
                Ignored>
  void operator()(const Ignored&) const {}

 private:
  Position& at_;
};

}  // namespace

void Position::Advance(const trace::Event& event) { trace::Visit(Follower(*this), event.payload); }

}  // namespace memtrace::analysis
