// SPDX-FileCopyrightText: the memtrace authors
// SPDX-License-Identifier: Apache-2.0
#include "profiler/recorder/program_recorder.h"

#include "profiler/trace/vocabulary/facts.h"

namespace memtrace::recorder {

using trace::Phase;

Phase ProgramRecorder::SetPhase(Phase phase) {
  Phase before = phase;
  log_.trace().Guarded([&] {
    {
      const SpinMutexLock lock(log_.mutex());
      before = log_.run().position().phase;
      if (before != phase) {
        log_.Append(trace::PhaseChange{.phase = phase, .micro_batch = micro_batch_.Enter(phase)});
      }
    }
    const bool goes_on = before == Phase::kBackward || before == Phase::kRecompute;
    if (phase == Phase::kBackward && !goes_on) scopes_.BeginBackward();
  });
  return before;
}

uint64_t ProgramRecorder::BeginStep() {
  uint64_t number = 0;
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    number = log_.run().position().step + 1;
    micro_batch_.BeginStep();
    log_.Append(trace::Step{.number = number});
  });
  return number;
}

void ProgramRecorder::Annotate(std::string_view key, std::string_view value) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    trace::DefinitionWriter& names = log_.writer().definitions();
    const trace::StringId key_id = names.String(key);
    const trace::StringId value_id = names.String(value);
    const auto& facts = log_.run().facts();
    const auto known = facts.find(key_id);
    if (known != facts.end() && known->second == value_id) return;
    log_.Append(trace::Annotate{.key = key_id, .value = value_id});
  });
}

void ProgramRecorder::BeginAllocator() {
  Annotate(trace::fact::kAllocatorBegan, "1");
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.run().ForgetEarlierPeaks();
  });
}

void ProgramRecorder::SampleCard(const trace::CardLedger& card) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.Append(trace::CardSample{.card = card});
  });
}

void ProgramRecorder::OutsideAllocated(trace::OutsideAllocate event, ContextId context) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    const AllocationContext from = contexts_.Unpack(context);
    event.stack = from.stack;
    event.owner = from.owner;
    event.module = from.module;
    log_.Append(event);
  });
}

void ProgramRecorder::OutsideFreed(const trace::OutsideFree& event) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    log_.Append(event);
  });
}

void ProgramRecorder::Moved(trace::Moved event, std::string_view to, ContextId context,
                            std::string_view owner) {
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    event.stack = contexts_.Unpack(context).stack;
    event.to = log_.writer().definitions().String(to);
    if (!owner.empty()) event.owner = log_.writer().definitions().String(owner);
    log_.Append(event);
  });
}

std::string ProgramRecorder::OwnerName(trace::StringId owner) const {
  std::string name;
  log_.trace().Guarded([&] {
    const SpinMutexLock lock(log_.mutex());
    if (owner != 0) name = log_.writer().definitions().Text(owner);
  });
  return name;
}

}  // namespace memtrace::recorder
